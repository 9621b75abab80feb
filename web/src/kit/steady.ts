import { useState } from 'react'

/** `gone`: it is shown as it was last, where it was. */
export type Steady<T> = T & { gone?: true }

/**
 * A list whose order changed, for somebody who looks at it: everything stays where it is, and what is new comes last.
 * Where nothing is left, nothing can move under a finger.
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

/** As much of the list as has so many that are not gone. */
export function firstOf<T>(list: readonly Steady<T>[], count: number): Steady<T>[] {
  let left = count
  return list.filter(({ gone }) => left > 0 && (gone || left--))
}

/** The list in the order in which it is on the page already; `sort` puts it in its own order, without what is gone. */
export function useSteady<T extends { id: string }>(now: readonly T[]): { steady: Steady<T>[]; sort(): void } {
  const [seen, setSeen] = useState<readonly T[]>(now)
  const [steady, setSteady] = useState<Steady<T>[]>([...now])
  if (seen !== now) {
    setSeen(now)
    setSteady(inSteadyOrder(steady, now))
  }
  return { steady, sort: () => setSteady([...now]) }
}
