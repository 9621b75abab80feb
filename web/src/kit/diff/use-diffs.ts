import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { ask } from '../../api/client.ts'
import { useAsk } from '../../live/data.ts'
import { complain } from '../toasts.tsx'
import { expanded } from './expand.ts'
import { type FileDiff, parseDiff } from './parse.ts'
import type { Listed } from './rows.ts'

/** A longer diff is loaded file by file, as the files become visible. */
const AT_ONCE_LINES = 15_000
/** The most lines of a file in one request. */
const MOST_LINES = 5000

export interface Diffs {
  /** The diffs that are loaded so far. */
  of(path: string): FileDiff | undefined
  /** How many lines a file has now, if that is known. */
  totalOf(path: string): number | undefined
  reader: Reader
}

/** Loads more. The object stays the same while files arrive. */
export interface Reader {
  missionId: string
  /** Whether all diffs come in one response that has not arrived yet. */
  awaited: boolean
  /** Takes the diff of one file. */
  take(path: string, told: { text: string; truncated: boolean }): void
  /** Shows more lines around the changes. */
  expand(path: string, at: number): void
}

/** The diffs of a mission's work: a small change in one request, a large one file by file. */
export function useDiffs(missionId: string, files: readonly Listed[]): Diffs {
  const lines = files.reduce((sum, { added, deleted }) => sum + (added ?? 0) + (deleted ?? 0), 0)
  const whole = useAsk('diff_mission', { mission_id: missionId }, { enabled: lines <= AT_ONCE_LINES })
  const together = useMemo(() => {
    const parsed = parseDiff(whole.data?.text ?? '')
    // If the text was cut off, its last file is not complete.
    if (whole.data?.truncated) parsed.pop()
    return new Map(parsed.map(file => [file.path, file]))
  }, [whole.data])
  const [read, setRead] = useState<ReadonlyMap<string, FileDiff>>(new Map())
  const [texts, setTexts] = useState<ReadonlyMap<string, readonly string[]>>(new Map())
  // What was loaded or expanded belongs to the diff before.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when another diff has arrived
  useEffect(() => {
    setRead(new Map())
    setTexts(new Map())
  }, [whole.data])
  const of = useCallback((path: string) => read.get(path) ?? together.get(path), [read, together])
  const set = useCallback((path: string, file: FileDiff) => setRead(before => new Map(before).set(path, file)), [])
  const totalOf = useCallback((path: string) => texts.get(path)?.length, [texts])
  const known = useRef({ of, texts })
  known.current = { of, texts }
  const awaited = whole.isLoading
  const arrived = useRef(new Map<string, FileDiff>())
  const reader = useMemo<Reader>(
    () => ({
      missionId,
      awaited,
      take(path, { text, truncated }) {
        // Files that arrive together are drawn together.
        if (!arrived.current.size)
          requestAnimationFrame(() => {
            const those = arrived.current
            arrived.current = new Map()
            setRead(before => new Map([...before, ...those]))
          })
        arrived.current.set(path, { ...fileIn(path, text), ...(truncated && { cut: true }) })
      },
      async expand(path, at) {
        const file = known.current.of(path)
        if (!file) return
        try {
          const text = known.current.texts.get(path) ?? (await linesOf(missionId, path))
          setTexts(before => new Map(before).set(path, text))
          set(path, { ...file, hunks: expanded(file.hunks, at, text) })
        } catch (error) {
          complain(error)
        }
      },
    }),
    [missionId, awaited, set],
  )
  return useMemo(() => ({ of, totalOf, reader }), [of, totalOf, reader])
}

const fileIn = (path: string, text: string): FileDiff =>
  parseDiff(text)[0] ?? {
    path,
    from: null,
    change: 'modified',
    oldMode: null,
    newMode: null,
    binary: false,
    hunks: [],
    additions: 0,
    deletions: 0,
  }

/** All lines of a file as it would land. */
async function linesOf(mission_id: string, path: string): Promise<string[]> {
  const all: string[] = []
  for (;;) {
    const { lines, total_lines } = await ask('read_file_at', {
      mission_id,
      path,
      from: all.length + 1,
      count: MOST_LINES,
    })
    all.push(...(lines ?? []))
    if (!lines?.length || all.length >= total_lines) return all
  }
}
