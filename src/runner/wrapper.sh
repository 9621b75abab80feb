#!/bin/sh
# Runs one program so that it outlives the server: wrapper.sh <directory> none|fifo|piped <program> [argument…]
# What a later server needs to take it up again is in files of the directory.
directory=$1 input=$2
shift 2

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

# Asked to end, the program does so by itself; the wrapper stays to write down how.
trap : TERM INT HUP
if [ "$input" = fifo ]; then
  # Holding the fifo open here means that a dying server is no end of input; a signal lets go of it.
  exec 3<>"$directory/stdin"
  trap 'exec 3>&-; let_go=1' USR1
  "$@" <"$directory/stdin" >>"$directory/stdout" 2>>"$directory/stderr" 3>&- &
  while wait $!; code=$?; [ -n "$let_go" ] && kill -0 $! 2>/dev/null; do let_go=; done
elif [ "$input" = piped ]; then
  # The server itself speaks with it, and notes what it says.
  "$@" 2>>"$directory/stderr"
  code=$?
else
  "$@" </dev/null >>"$directory/stdout" 2>>"$directory/stderr"
  code=$?
fi
# A reader takes the number only with its end of line, so it never sees half of one.
printf '%s\n' "$code" >"$directory/exit"
