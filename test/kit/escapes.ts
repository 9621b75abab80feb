/**
 * A line for a script that starts processes which leave everything behind by which they could be found: their parents,
 * their process session, their environment and their folder. Each notes its pid.
 */
export const escapes = (count: number, pids: string): string =>
  `for n in $(seq ${count}); do (cd / && env -i setsid sh -c 'sleep 1000 </dev/null >/dev/null 2>&1 & echo $! >>"${pids}"' &); done`
