#!/bin/sh
# Runs one program so that it outlives the server: wrapper.sh <directory> none|fifo|piped <bytes> <program> [argument…]
# What a later server needs to take it up again is in files of the directory. <bytes>: how much of each stream is kept.
directory=$1 input=$2 most=$3
shift 3

# Whoever makes this owns the launch: a wrapper that comes too late must not start the program. A file that must not
# exist yet is as good as a folder, and needs no process.
set -C
true 2>/dev/null >"$directory/claim" || exit 0
set +C

# A process is known by pid and start time, because a pid alone may be somebody else's by now.
if [ -r /proc/$$/stat ]; then
  started_of() { shift 19; started=$1; }
  read -r stat </proc/$$/stat
  started_of ${stat##*) }
  read -r boot </proc/sys/kernel/random/boot_id
else
  started=$(ps -o lstart= -p $$ | tr -s ' ' '_') boot=unknown
fi
printf '%s %s %s\n' "$$" "$started" "$boot" >"$directory/pid"
# Room for its end, so that a program that fills the disk is not taken for one that never ended, and run again.
printf '%3s\n' '' >"$directory/ending"

# Writes down what comes through a pipe, so that the program has no hold on the file. The kernel keeps the file to its
# size; what comes after that is marked and read on, so that the program can end as it likes. On a full disk the program
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

# In its group, which the wrapper is not in: nothing that the program starts gets out of it.
group=
[ -r "$directory/group" ] && read -r group <"$directory/group"
run() {
  [ -z "$group" ] || echo 0 >"$group/cgroup.procs"
  exec "$@"
}

# Asked to end, the program does so by itself; the wrapper stays to write down how.
trap : TERM INT HUP
if [ "$input" = fifo ]; then
  # Holding the fifo open here means that a dying server is no end of input; a signal lets go of it.
  exec 3<>"$directory/stdin"
  trap 'exec 3>&-; let_go=1' USR1
  run "$@" <"$directory/stdin" >"$out" 2>"$err" 3>&- &
  while wait $!; code=$?; [ -n "$let_go" ] && kill -0 $! 2>/dev/null; do let_go=; done
elif [ "$input" = piped ]; then
  # The server itself speaks with it, and notes what it says.
  (run "$@") 2>"$err"
  code=$?
else
  (run "$@") </dev/null >"$out" 2>"$err"
  code=$?
fi

# What it printed is written down before its end is; but children it left may hold the pipes open, and those are waited
# for a second only. The alarm is repeated because it may come before the waiting begins; like the writers, it is known
# by what it reads from.
trap late=1 ALRM
(cd / && while FLEET_SESSION= sleep 1; kill -ALRM $$; do :; done) <"$directory/claim" >/dev/null 2>&1 & alarm=$!
for writer in $writers; do
  while [ -z "$late" ] && { wait "$writer"; [ $? -gt 128 ]; }; do :; done
done
kill $alarm
# Written over what was reserved, which needs no room on most disks; on others, once there is some.
until printf '%3s\n' "$code" 1<>"$directory/ending" && FLEET_SESSION= mv "$directory/ending" "$directory/exit"; do
  [ -e "$directory/claim" ] || exit 0
  (cd / && FLEET_SESSION= exec sleep 1)
done <"$directory/claim" 2>/dev/null
