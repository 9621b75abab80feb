/**
 * A script line that starts processes which cannot be found by their parents, their process session, their environment
 * or their folder. Each records its pid.
 */
export const escapes = (count: number, pids: string): string =>
  `for n in $(seq ${count}); do (cd / && env -i setsid sh -c 'sleep 1000 </dev/null >/dev/null 2>&1 & echo $! >>"${pids}"' &); done`
