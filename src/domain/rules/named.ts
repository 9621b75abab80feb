/** A record names this many of its newest. There are never more open at once. */
const MOST_NAMED = 60

/** A record names what belongs to it, because lists may lag behind. */
export const named = (before: readonly string[], id: string): string[] =>
  [...before.filter(each => each !== id), id].slice(-MOST_NAMED)
