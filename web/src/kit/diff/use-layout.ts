import { useCallback, useMemo, useRef, useState } from 'react'
import { type Block, blockOf, type Heights, heightAt, layoutOf, resized, subjectOf } from './layout.ts'
import { type Listed, type Place, type PlacedComment, plainRows, type Row, type View, withComments } from './rows.ts'
import type { Diffs } from './use-diffs.ts'

interface Asked<R extends PlacedComment> {
  files: readonly Listed[]
  diffs: Diffs
  view: View
  isFolded(listed: Listed): boolean
  commentsOn: ReadonlyMap<string, readonly R[]>
  writing: Place | undefined
}

/** A drawn row and its height. */
export interface Measured {
  file: number
  row: number
  height: number
}

const NONE: readonly never[] = []

/** The rows of all files and their positions. The rows of an unchanged file are used again. */
export function useLayout<R extends PlacedComment>(asked: Asked<R>) {
  const { files, diffs, view, isFolded, commentsOn, writing } = asked
  const heights = useRef<Record<View, Heights>>({ unified: new WeakMap(), split: new WeakMap() }).current[view]
  const [memory, setMemory] = useState<Memory<R>>(() => ({ unified: new Map(), split: new Map(), folded: new Map() }))

  const { layout, made } = useMemo(() => {
    const made = files.map((listed): Made<R> => {
      const { path } = listed
      const folded = isFolded(listed)
      const [diff, total] = [diffs.of(path), diffs.totalOf(path)]
      const of = [listed, diff, total]
      const said = [commentsOn.get(path) ?? NONE, writing?.path === path ? writing : undefined] as const
      const known = memory[folded ? 'folded' : view]
      const before = known.get(path)
      const bare = before && same(before.of, of) ? before.bare : plainRows({ listed, diff, total, folded, view })
      if (before?.bare === bare && same(before.said, said)) return before
      const now = { of, said, bare, block: blockOf(withComments(bare, ...said), heights) }
      known.set(path, now)
      return now
    })
    return { made, layout: layoutOf(made.map(({ block }) => block)) }
  }, [files, diffs, view, isFolded, commentsOn, writing, memory, heights])

  /** Takes measured heights that differ from the assumed ones. Returns whether there were any. */
  const measure = useCallback(
    (all: readonly Measured[]): boolean => {
      const others = all.filter(({ file, row, height }) => {
        const block = made[file]?.block
        return block?.rows[row] && Math.abs(height - heightAt(block, row)) > LEAST_PX
      })
      for (const [file, those] of Map.groupBy(others, each => each.file)) {
        const { block } = made[file]!
        for (const { row, height } of those) heights.set(subjectOf(block.rows[row]!), height)
        made[file]!.block = resized(block, new Map(those.map(({ row, height }) => [row, height])))
      }
      if (others.length) setMemory(before => ({ ...before }))
      return others.length > 0
    },
    [made, heights],
  )
  return { layout, measure }
}

/** A smaller difference is only rounding. */
const LEAST_PX = 0.1

/** What was built last for each file, by path. */
type Memory<R extends PlacedComment> = Record<View | 'folded', Map<string, Made<R>>>

/** What was built, and from what. */
interface Made<R extends PlacedComment> {
  of: readonly unknown[]
  said: readonly unknown[]
  bare: Row<never>[]
  block: Block<R>
}

const same = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.every((each, index) => each === other[index])
