import { Button } from '@radix-ui/themes'
import { useMemo, useState } from 'react'
import { plural } from '../words.ts'
import { compareTexts } from './compare.ts'
import { LINE_CHARS, shown } from './shown.ts'
import './diff.css'
import { DiffLine } from './line.tsx'
import { changedParts } from './pairs.ts'
import { type Hunk, parseDiff } from './parse.ts'

/** What an agent tells of a change to a file: old and new text, or a diff. */
export interface Edit {
  path: string
  old_text: string | null
  new_text: string | null
  diff: string | null
}

/** So many lines are shown before somebody asks for more, and at each asking. */
const FIRST_LINES = 40
const MORE_LINES = 1000

interface InlineDiffProps {
  edit: Edit
  /** false: its path is told elsewhere. */
  named?: boolean
  /** Everything that the agent tells, not only what is near to a change. */
  whole?: boolean
}

/** A small change to one file, where it happened. */
export function InlineDiff({ edit, named = true, whole = false }: InlineDiffProps) {
  const { path, old_text, new_text, diff } = edit
  const [most, setMost] = useState(FIRST_LINES)
  const hunks = useMemo(() => {
    if (diff) return parseDiff(diff).flatMap(file => file.hunks)
    return compareTexts(old_text ?? '', new_text ?? '', whole ? Number.POSITIVE_INFINITY : undefined)
  }, [old_text, new_text, diff, whole])
  const total = hunks.reduce((sum, { lines }) => sum + lines.length, 0)
  let left = most
  return (
    <figure className="diff-inline">
      {named && <figcaption className="diff-path">{shown(path)}</figcaption>}
      {total === 0 && <p className="diff-note">{diff ? shown(diff.slice(0, LINE_CHARS)) : 'Nothing changes.'}</p>}
      {hunks.map((hunk, index) => {
        const lines = hunk.lines.slice(0, Math.max(0, left))
        left -= lines.length
        return (
          <InlineHunk
            key={`${hunk.oldStart}:${hunk.newStart}`}
            {...{ path, hunk, lines }}
            first={!index}
            numbers={!!diff}
          />
        )
      })}
      {total > most && (
        <Button size="1" variant="ghost" className="diff-rest" onClick={() => setMost(most + MORE_LINES)}>
          {plural(total - most, 'more line')}
        </Button>
      )}
    </figure>
  )
}

interface InlineHunkProps {
  path: string
  hunk: Hunk
  lines: Hunk['lines']
  first: boolean
  numbers: boolean
}

function InlineHunk({ path, hunk, lines, first, numbers }: InlineHunkProps) {
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
