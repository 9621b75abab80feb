import { useCallback, useMemo, useState } from 'react'
import { useAsk } from '../../live/data.ts'
import { type FileDiff, parseDiff } from './parse.ts'
import type { Listed } from './rows.ts'

/** What is longer is read file by file, when somebody gets there. */
const AT_ONCE_LINES = 15_000

export interface Diffs {
  sessionId: string
  /** What was read so far, by path. */
  of(path: string): FileDiff | undefined
  /** How many lines a file has now, if that is known. */
  totalOf(path: string): number | undefined
  take(path: string, text: string): void
  /** Shows more of what lies around the changes. */
  expand(path: string, at: number): void
}

/** The diffs of what a session changed: a small change in one go, a large one file by file. */
export function useDiffs(sessionId: string, files: readonly Listed[]): Diffs {
  const lines = files.reduce((sum, { added, deleted }) => sum + (added ?? 0) + (deleted ?? 0), 0)
  const whole = useAsk('diff_session', { session_id: sessionId }, { enabled: lines <= AT_ONCE_LINES })
  const together = useMemo(() => {
    const parsed = parseDiff(whole.data?.text ?? '')
    // The last of a text that is cut off is not whole.
    if (whole.data?.truncated) parsed.pop()
    return new Map(parsed.map(file => [file.path, file]))
  }, [whole.data])
  const [read, setRead] = useState<ReadonlyMap<string, FileDiff>>(new Map())
  const of = useCallback((path: string) => read.get(path) ?? together.get(path), [read, together])
  const set = useCallback((path: string, file: FileDiff) => setRead(before => new Map(before).set(path, file)), [])
  const take = useCallback(
    (path: string, text: string) => {
      const file = parseDiff(text).find(each => each.path === path)
      set(path, file ?? { ...EMPTY, path })
    },
    [set],
  )
  return useMemo(() => ({ sessionId, of, totalOf: () => undefined, take, expand: () => {} }), [sessionId, of, take])
}

const EMPTY: Omit<FileDiff, 'path'> = {
  from: null,
  change: 'modified',
  oldMode: null,
  newMode: null,
  binary: false,
  hunks: [],
  additions: 0,
  deletions: 0,
}
