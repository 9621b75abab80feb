#!/bin/sh
# The least that git and sh need for what a mission does: the floor that the figures stand beside.
#   floor.sh missions <count> <at a time> <worktrees> <repository>…   runs them all; missions go round the repositories
#   floor.sh starts <count> <worktrees> <repository>                  prints for each two times in ns: before, and by the process
set -eu

# The steps of one mission, exactly these: mission <number> <repository>
mission() {
  tree=$worktrees/$1 branch=floor/$1
  git -C "$2" worktree add --quiet --no-track -b "$branch" "$tree" main 2>/dev/null
  (cd "$tree" && sh -c 'echo "$0" >"$0"' "made-$1")
  git -C "$tree" add -A
  git -C "$tree" commit --quiet -m "mission $1"
  # Two at once in one repository: whoever finds the base moved merges again.
  until land "$2" "$branch"; do :; done
  git -C "$2" worktree remove --force "$tree"
  git -C "$2" branch --quiet -D "$branch"
}

land() {
  read -r base <"$1/.git/refs/heads/main"
  merged=$(git -C "$1" merge-tree --write-tree "$base" "$2")
  commit=$(git -C "$1" commit-tree "$merged" -p "$base" -m "$2")
  git -C "$1" update-ref refs/heads/main "$commit" "$base" 2>/dev/null
}

# Every so-manieth mission: worker <first> <count> <step> <repository>…
worker() {
  number=$1 count=$2 step=$3
  shift 3
  while [ "$number" -lt "$count" ]; do
    eval "repository=\${$((number % $# + 1))}"
    mission "$number" "$repository"
    number=$((number + step))
  done
}

what=$1 count=$2
shift 2
case $what in
missions)
  step=$1 worktrees=$2
  shift 2
  workers=
  while [ "${first:=0}" -lt "$step" ]; do
    worker "$first" "$count" "$step" "$@" &
    workers="$workers $!"
    first=$((first + 1))
  done
  for pid in $workers; do wait "$pid"; done
  ;;
starts)
  number=0
  while [ "$number" -lt "$count" ]; do
    tree=$1/start-$number
    before=$(date +%s%N)
    git -C "$2" worktree add --quiet --no-track -b "start/$number" "$tree" main 2>/dev/null
    echo "$before $(cd "$tree" && sh -c 'date +%s%N')"
    git -C "$2" worktree remove --force "$tree"
    git -C "$2" branch --quiet -D "start/$number"
    number=$((number + 1))
  done
  ;;
esac
