import { useMemo } from 'react'
import { compareTexts } from './compare.ts'
import { Hunks } from './hunks.tsx'
import { parseDiff } from './parse.ts'
import { LINE_CHARS, shown } from './shown.ts'

/** A change to a file as an agent reports it: old and new text, or a diff. */
export interface Edit {
  path: string
  old_text: string | null
  new_text: string | null
  diff: string | null
}

interface InlineDiffProps {
  edit: Edit
  /** false: the path is shown elsewhere. */
  named?: boolean
  /** Everything that the agent reported, not only the lines near a change. */
  whole?: boolean
}

/** A small change to one file, shown in place. */
export function InlineDiff({ edit, named = true, whole = false }: InlineDiffProps) {
  const { path, old_text, new_text, diff } = edit
  const hunks = useMemo(() => {
    if (diff) return parseDiff(diff).flatMap(file => file.hunks)
    return compareTexts(old_text ?? '', new_text ?? '', whole ? Number.POSITIVE_INFINITY : undefined)
  }, [old_text, new_text, diff, whole])
  return (
    <figure className="diff-inline">
      {named && <figcaption className="diff-path">{shown(path)}</figcaption>}
      {hunks.length === 0 && (
        <p className="diff-note">{diff ? shown(diff.slice(0, LINE_CHARS)) : 'Nothing changes.'}</p>
      )}
      <Hunks path={path} hunks={hunks} numbers={!!diff} />
    </figure>
  )
}
