#!/bin/sh
# The least time that git and sh need for the work of a mission. The figures are compared with this floor.
#   floor.sh missions <count> <at a time> <worktrees> <repository>…   runs them all
#   floor.sh starts <count> <worktrees> <repository>                  prints two times in ns for each:
#                                                                     before it, and in its process
#   floor.sh landings <count> <folder> <repository> [<first>]         prints for each landing of one line how many ns it
#                                                                     takes, with the checkout that follows
#   floor.sh hand-overs <count> <worktrees> <repository>              prints the same two times, with the landing of the
#                                                                     one before in between
set -eu

# land <worktree> <branch> <repository>
land() {
  git -C "$1" add -A
  git -C "$1" commit --quiet -m "$2"
  read -r base <"$3/.git/refs/heads/main"
  merged=$(git -C "$3" merge-tree --write-tree "$base" "$2")
  commit=$(git -C "$3" commit-tree "$merged" -p "$base" -m "$2")
  git -C "$3" update-ref refs/heads/main "$commit" "$base"
}

# Exactly the steps of one mission: mission <number> <repository>
mission() {
  tree=$worktrees/$1 branch=floor/$1
  git -C "$2" worktree add --quiet --no-track -b "$branch" "$tree" main 2>/dev/null
  (cd "$tree" && sh -c 'echo "$0" >"$0"' "made-$1")
  land "$tree" "$branch" "$2"
  git -C "$2" worktree remove --force "$tree"
  git -C "$2" branch --quiet -D "$branch"
}

# A row of missions: worker <first> <after the last> <repository>…
# Git races with itself in one repository, so each worker has its own repositories. If two workers share one, it is the
# last of one worker and the first of the other.
worker() {
  number=$1 end=$2
  shift 2
  while [ "$number" -lt "$end" ]; do
    eval "repository=\${$((number * $# / count + 1))}"
    mission "$number" "$repository"
    number=$((number + 1))
  done
}

what=$1 count=$2
shift 2
case $what in
missions)
  at_a_time=$1 worktrees=$2 n=0 workers=
  shift 2
  while [ "$n" -lt "$at_a_time" ]; do
    worker $((count * n / at_a_time)) $((count * (n + 1) / at_a_time)) "$@" &
    workers="$workers $!"
    n=$((n + 1))
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
landings)
  number=${3:-0} end=$((${3:-0} + count))
  while [ "$number" -lt "$end" ]; do
    export GIT_INDEX_FILE="$1/landing-index"
    git -C "$2" read-tree main
    blob=$(echo "$number" | git -C "$2" hash-object -w --stdin)
    git -C "$2" update-index --add --cacheinfo "100644,$blob,landed-$number"
    branch=$(git -C "$2" commit-tree "$(git -C "$2" write-tree)" -p main -m "$number")
    unset GIT_INDEX_FILE
    before=$(date +%s%N)
    base=$(git -C "$2" rev-parse refs/heads/main)
    merged=$(git -C "$2" merge-tree --write-tree "$base" "$branch")
    commit=$(git -C "$2" commit-tree "$merged" -p "$base" -m "$number")
    git -C "$2" merge --quiet --ff-only --no-overwrite-ignore "$commit"
    echo $(($(date +%s%N) - before))
    number=$((number + 1))
  done
  ;;
hand-overs)
  number=0
  git -C "$2" worktree add --quiet --no-track -b over/0 "$1/over-0" main 2>/dev/null
  while [ "$number" -lt "$count" ]; do
    tree=$1/over-$number branch=over/$number next=$((number + 1))
    echo "$$" >"$tree/over-$number"
    before=$(date +%s%N)
    land "$tree" "$branch" "$2"
    git -C "$2" worktree add --quiet --no-track -b "over/$next" "$1/over-$next" main 2>/dev/null
    echo "$before $(cd "$1/over-$next" && sh -c 'date +%s%N')"
    git -C "$2" worktree remove --force "$tree"
    git -C "$2" branch --quiet -D "$branch"
    number=$next
  done
  git -C "$2" worktree remove --force "$1/over-$number"
  git -C "$2" branch --quiet -D "over/$number"
  ;;
esac
