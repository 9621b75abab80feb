#!/bin/sh
# Runs one program so that it outlives the server: wrapper.sh <directory> none|fifo|piped <bytes> <program> [argument…]
# The files in the directory are all that a later server needs to adopt it. <bytes>: how much of each stream is kept.
directory=$1 input=$2 most=$3
shift 3

# The process that makes this file owns the launch: a wrapper that comes too late must not start the program. With
# `set -C` the shell fails if the file exists, so no other program is needed.
set -C
true 2>/dev/null >"$directory/claim" || exit 0
set +C

# A process is known by its pid and its start time, because a pid alone may belong to another process by now.
if [ -r /proc/$$/stat ]; then
  started_of() { shift 19; started=$1; }
  read -r stat </proc/$$/stat
  started_of ${stat##*) }
  read -r boot </proc/sys/kernel/random/boot_id
else
  started=$(ps -o lstart= -p $$ | tr -s ' ' '_') boot=unknown
fi
printf '%s %s %s\n' "$$" "$started" "$boot" >"$directory/pid"
# Reserves room for the exit code: on a disk that the program filled, its end would be lost, and it would run again.
printf '%3s\n' '' >"$directory/ending"

# Stores what comes through a pipe, so that the program cannot change the file. The kernel limits the size of the file.
# Output beyond that is read and dropped, so that the program can go on, and `full` says so. On a full disk the program
# waits until there is room.
keep() {
  trap '' TERM INT HUP
  cd /
  ulimit -c 0
  ulimit -f $((most / 512 + 1))
  until cat >>"$1"; do
    if [ ! -e "$1" ] || [ $(wc -c <"$1") -gt "$most" ]; then
      true >"$directory/full"
      exec cat >/dev/null
    fi
    until printf '\n' >>"$1" || [ ! -e "$1" ]; do sleep 1; done
  done
}
out=$directory/stdout.pipe err=$directory/stderr.pipe
[ -p "$err" ] || mkfifo -m 600 "$out" "$err"
if [ "$input" != piped ]; then keep "$directory/stdout" <"$out" >/dev/null & writers=$!; fi
keep "$directory/stderr" <"$err" >/dev/null & writers="$writers $!"

# The program joins its control group, and nothing that it starts can leave it. The wrapper stays outside.
group=
[ -r "$directory/group" ] && read -r group <"$directory/group"
run() {
  [ -z "$group" ] || { echo 0 >"$group/cgroup.procs"; } 2>/dev/null
  exec "$@"
}

# These signals end the program, not the wrapper, which stays to store the exit code.
trap : TERM INT HUP
if [ "$input" = fifo ]; then
  # The wrapper holds the fifo open, so that a server that dies does not end the input. USR1 closes it.
  exec 3<>"$directory/stdin"
  trap 'exec 3>&-; let_go=1' USR1
  run "$@" <"$directory/stdin" >"$out" 2>"$err" 3>&- &
  wait $!
  code=$?
  # USR1 interrupts the wait, also if the program ends in that moment: then only a second wait tells how. A program that
  # was waited for before has no status any more (127).
  while [ -n "$let_go" ] && [ $code -gt 128 ]; do
    let_go=
    wait $!
    again=$?
    [ $again -eq 127 ] || code=$again
  done
elif [ "$input" = piped ]; then
  # The server itself talks to the program, and stores its output.
  (run "$@") 2>"$err"
  code=$?
else
  (run "$@") </dev/null >"$out" 2>"$err"
  code=$?
fi

# The output is stored before the exit code. Children that the program left may hold the pipes open, so the wait for the
# writers is about a second. The alarm repeats, because it may come before the wait begins. Like the writers, it is
# recognised by the file it reads from.
trap late=1 ALRM
(cd / && while FLEET_SESSION= sleep 1; kill -ALRM $$; do :; done) <"$directory/claim" >/dev/null 2>&1 & alarm=$!
for writer in $writers; do
  while [ -z "$late" ] && { wait "$writer"; [ $? -gt 128 ]; }; do :; done
done
kill $alarm
# Overwrites the reserved bytes, which needs no room on most disks. On others it waits for room. It counts once this
# process is gone, so no reader sees half a number, and the server then calls it `exit`.
until printf '%3s\n' "$code" 1<>"$directory/ending"; do
  [ -e "$directory/claim" ] || exit 0
  (cd / && FLEET_SESSION= exec sleep 1)
done <"$directory/claim" 2>/dev/null
