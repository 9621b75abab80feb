import { compareTexts } from './compare.ts'
import type { Edit } from './inline.tsx'
import { parseDiff } from './parse.ts'

/** Longer texts are not compared for a number. */
const MOST_CHARS = 100_000

/** How many lines edits add and delete; undefined: there are none, or they are too long to count. */
export function sizeOf(edits: readonly Edit[]): { added: number; deleted: number } | undefined {
  const chars = edits.reduce(
    (sum, { old_text, new_text }) => sum + (old_text?.length ?? 0) + (new_text?.length ?? 0),
    0,
  )
  if (!edits.length || chars > MOST_CHARS) return undefined
  const lines = edits
    .flatMap(({ diff, old_text, new_text }) =>
      diff ? parseDiff(diff).flatMap(file => file.hunks) : compareTexts(old_text ?? '', new_text ?? '', 0),
    )
    .flatMap(hunk => hunk.lines)
  const count = (sign: string) => lines.filter(line => line.sign === sign).length
  return { added: count('+'), deleted: count('-') }
}
