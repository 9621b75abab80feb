import { Button } from '@radix-ui/themes'
import { useMemo, useState } from 'react'
import { plural } from '../words.ts'
import './diff.css'
import { DiffLine } from './line.tsx'
import { changedParts } from './pairs.ts'
import type { Hunk } from './parse.ts'

/** How many lines are shown at first, and how many more on each click. */
const FIRST_LINES = 40
const MORE_LINES = 1000

interface HunksProps {
  path: string
  hunks: readonly Hunk[]
  /** false: their position in the file is not known. */
  numbers?: boolean
}

/** Hunks of one file, cut after the first lines. */
export function Hunks({ path, hunks, numbers = true }: HunksProps) {
  const [most, setMost] = useState(FIRST_LINES)
  const total = hunks.reduce((sum, { lines }) => sum + lines.length, 0)
  let left = most
  return (
    <>
      {hunks.map((hunk, index) => {
        const lines = hunk.lines.slice(0, Math.max(0, left))
        left -= lines.length
        return (
          <HunkLines key={`${hunk.oldStart}:${hunk.newStart}`} {...{ path, hunk, lines, numbers }} first={!index} />
        )
      })}
      {total > most && (
        <Button size="1" variant="ghost" className="diff-rest" onClick={() => setMost(most + MORE_LINES)}>
          {plural(total - most, 'more line')}
        </Button>
      )}
    </>
  )
}

interface HunkLinesProps {
  path: string
  hunk: Hunk
  lines: Hunk['lines']
  first: boolean
  numbers: boolean
}

function HunkLines({ path, hunk, lines, first, numbers }: HunkLinesProps) {
  const parts = useMemo(() => changedParts(hunk.lines), [hunk])
  return (
    <>
      {!first && <div className="diff-gap" />}
      {lines.map(line => (
        <DiffLine key={`${line.old}:${line.new}`} {...{ path, hunk, line, numbers }} part={parts.get(line)} />
      ))}
    </>
  )
}
