import { useState } from 'react'

/** `gone`: it is shown as it last was, in its old place. */
export type Steady<T> = T & { gone?: true }

/**
 * Keeps the order of a list while somebody looks at it: items stay in place, and new ones come last. An empty list
 * starts over, because then nothing can move under a finger.
 */
export function inSteadyOrder<T extends { id: string }>(before: readonly Steady<T>[], now: readonly T[]): Steady<T>[] {
  if (now.length === 0) return []
  const current = new Map(now.map(each => [each.id, each]))
  const known = new Set(before.map(({ id }) => id))
  return [
    ...before.map(each => current.get(each.id) ?? { ...each, gone: true as const }),
    ...now.filter(({ id }) => !known.has(id)),
  ]
}

/** The beginning of the list, with this many items that are not gone. */
export function firstOf<T>(list: readonly Steady<T>[], count: number): Steady<T>[] {
  let left = count
  return list.filter(({ gone }) => left > 0 && (gone || left--))
}

/** The list in the order that the page already shows; `sort` brings back its own order, without items that are gone. */
export function useSteady<T extends { id: string }>(now: readonly T[]): { steady: Steady<T>[]; sort(): void } {
  const [seen, setSeen] = useState<readonly T[]>(now)
  const [steady, setSteady] = useState<Steady<T>[]>([...now])
  if (seen !== now) {
    setSeen(now)
    setSteady(inSteadyOrder(steady, now))
  }
  return { steady, sort: () => setSteady([...now]) }
}
