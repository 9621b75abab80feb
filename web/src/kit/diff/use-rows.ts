import { useMemo, useRef } from 'react'
import { type Listed, type Place, type PlacedRemark, plainRows, type Row, type View, withRemarks } from './rows.ts'
import type { Diffs } from './use-diffs.ts'

interface Asked<R extends PlacedRemark> {
  files: readonly Listed[]
  diffs: Diffs
  view: View
  isFolded(listed: Listed): boolean
  remarksOn: ReadonlyMap<string, readonly R[]>
  writing: Place | undefined
}

export interface Rows<R extends PlacedRemark> {
  rows: readonly Row<R>[]
  /** Where each file begins. */
  heads: readonly number[]
}

const NONE: readonly never[] = []

/** The rows of all files; those of a file that did not change are not made again. */
export function useRows<R extends PlacedRemark>(asked: Asked<R>): Rows<R> {
  const { files, diffs, view, isFolded, remarksOn, writing } = asked
  const made = useRef(new Map<string, Made<R>>())
  return useMemo(() => {
    const rows: Row<R>[] = []
    const heads: number[] = []
    for (const listed of files) {
      const { path } = listed
      const folded = isFolded(listed)
      const diff = folded ? undefined : diffs.of(path)
      const total = diffs.totalOf(path)
      const here = writing?.path === path ? writing : undefined
      const remarks = remarksOn.get(path) ?? NONE
      const [of, said] = [
        [listed, diff, total, folded, view],
        [remarks, here],
      ]
      const before = made.current.get(path)
      const bare = before && same(before.of, of) ? before.bare : plainRows({ listed, diff, total, folded, view })
      const known =
        before && bare === before.bare && same(before.said, said) ? before.rows : withRemarks(bare, remarks, here)
      made.current.set(path, { of, said, bare, rows: known })
      heads.push(rows.length)
      for (const row of known) rows.push(row)
    }
    return { rows, heads }
  }, [files, diffs, view, isFolded, remarksOn, writing])
}

/** What was made last, and of what. */
interface Made<R extends PlacedRemark> {
  of: readonly unknown[]
  said: readonly unknown[]
  bare: Row<never>[]
  rows: Row<R>[]
}

const same = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.every((each, index) => each === other[index])

/** Which file a row belongs to: the last one that begins at or before it. */
export function fileAt(heads: readonly number[], row: number): number {
  let [low, high] = [0, heads.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (heads[middle]! <= row) low = middle
    else high = middle - 1
  }
  return low
}
