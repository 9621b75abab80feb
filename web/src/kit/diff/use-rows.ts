import { useMemo, useRef } from 'react'
import { type Listed, type Place, type PlacedRemark, type Row, rowsOf, type View } from './rows.ts'
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
  const made = useRef(new Map<string, { of: readonly unknown[]; rows: Row<R>[] }>())
  return useMemo(() => {
    const rows: Row<R>[] = []
    const heads: number[] = []
    for (const listed of files) {
      const { path } = listed
      const folded = isFolded(listed)
      const diff = folded ? undefined : diffs.of(path)
      const here = writing?.path === path ? writing : undefined
      const remarks = remarksOn.get(path) ?? NONE
      const of = [listed, diff, diffs.totalOf(path), folded, view, remarks, here]
      let known = made.current.get(path)
      if (!known?.of.every((each, index) => each === of[index])) {
        const total = diffs.totalOf(path)
        known = { of, rows: rowsOf({ listed, diff, total, folded, view, remarks, writing: here }) }
        made.current.set(path, known)
      }
      heads.push(rows.length)
      for (const row of known.rows) rows.push(row)
    }
    return { rows, heads }
  }, [files, diffs, view, isFolded, remarksOn, writing])
}

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
