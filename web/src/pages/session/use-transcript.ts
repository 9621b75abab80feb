import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import type { TranscriptEvent } from '../../../../src/domain/records/transcript.ts'
import type { Folding } from '../../../../src/domain/rules/conversation.ts'
import { addressOf, ask, Refused } from '../../api/client.ts'
import { type Item, pauseBefore, readStream } from '../../live/read-stream.ts'
import { isFull, opened, type PageRead, type TranscriptWindow, withNewer, withOlder } from './transcript-window.ts'

const PAGE = 200
/** Events within this time are drawn together. */
const GATHER_MS = 60

/** Where somebody entered the transcript. The list starts there. */
export interface Entry {
  number: number
  at: 'start' | 'end' | { event_id: string }
}

export interface Transcript {
  window: TranscriptWindow | undefined
  entry: Entry
  error: Error | undefined
  /** Whether new events are shown as they happen. */
  live: boolean
  older(): Promise<void>
  newer(): Promise<void>
  /** Shows the part around the event that ends at this cursor. */
  goTo(cursor: string): Promise<void>
  toStart(): Promise<void>
  toEnd(): Promise<void>
  retry(): void
}

interface Reading extends Folding {
  raw: boolean
  /** Opens the transcript here instead of at its end. */
  at: string | null
  /** Somebody reads further up, so nothing may be cut there. */
  held: () => boolean
}

const watchVisibility = (watcher: () => void) => {
  document.addEventListener('visibilitychange', watcher)
  return () => document.removeEventListener('visibilitychange', watcher)
}

/** A part of a session's transcript. It can be moved, and grows while the session runs. */
export function useTranscript(session_id: string, { raw, lines, at, held }: Reading): Transcript {
  const [window, setWindow] = useState<TranscriptWindow>()
  const [entry, setEntry] = useState<Entry>({ number: 0, at: 'end' })
  const [error, setError] = useState<Error>()
  const [live, setLive] = useState(false)
  const [tries, setTries] = useState(0)
  const hidden = useSyncExternalStore(watchVisibility, () => document.hidden)
  const folding = useMemo(() => ({ lines }), [lines])
  const latest = useRef<TranscriptWindow>(undefined)
  const reading = useRef<Promise<void>>(undefined)
  const underWay = useRef(new Set<string>())
  const show = useCallback((next: TranscriptWindow, from?: Entry['at']) => {
    latest.current = next
    setWindow(next)
    if (from) setEntry(({ number }) => ({ number: number + 1, at: from }))
  }, [])
  const read = useCallback(
    (where: { after?: string; before?: string; last?: boolean }): Promise<PageRead> =>
      ask('read_transcript', { session_id, raw, limit: PAGE, ...where }),
    [session_id, raw],
  )
  /** One read at a time, because two pages read at once would not fit together. */
  const alone = useCallback((work: () => Promise<void>): Promise<void> => {
    const done = (reading.current ?? Promise.resolve()).then(work).catch(setError)
    reading.current = done
    return done
  }, [])

  /** Every scroll step asks for more, but it is loaded once. */
  const once = useCallback(
    async (what: string, work: () => Promise<void>): Promise<void> => {
      if (underWay.current.has(what)) return
      underWay.current.add(what)
      await alone(work)
      underWay.current.delete(what)
    },
    [alone],
  )

  const toEnd = useCallback(
    () => alone(async () => show(opened(await read({ last: true }), 'end', folding), 'end')),
    [alone, read, show, folding],
  )
  const toStart = useCallback(
    () => alone(async () => show(opened(await read({}), 'start', folding), 'start')),
    [alone, read, show, folding],
  )
  const goTo = useCallback(
    (cursor: string) =>
      alone(async () => {
        const [before, after] = await Promise.all([read({ before: cursor }), read({ after: cursor })])
        const around = withNewer({ ...opened(before, 'end', folding), atEnd: false }, after, folding)
        const target = before.events.at(-1)
        show(around, target ? { event_id: target.event_id } : 'start')
      }),
    [alone, read, show, folding],
  )
  const older = useCallback(
    () =>
      once('older', async () => {
        const now = latest.current
        if (!now || now.atStart) return
        const page = await read({ before: now.start })
        if (latest.current) show(withOlder(latest.current, page, folding))
      }),
    [once, read, show, folding],
  )
  const newer = useCallback(
    () =>
      once('newer', async () => {
        const now = latest.current
        if (!now || now.atEnd) return
        const page = await read({ after: now.cursor })
        if (latest.current) show(withNewer(latest.current, page, folding))
      }),
    [once, read, show, folding],
  )

  // biome-ignore lint/correctness/useExhaustiveDependencies: opened once per session and view, and on retry
  useEffect(() => {
    latest.current = undefined
    setWindow(undefined)
    setError(undefined)
    if (at) goTo(at)
    else toEnd()
  }, [session_id, raw, tries])

  // This also applies to an ended session, because its last output may be missing.
  const follows = window?.atEnd === true && !hidden
  useEffect(() => {
    if (!follows) return
    const stop = new AbortController()
    const gathered: TranscriptEvent[] = []
    let cursor = ''
    let timer: ReturnType<typeof setTimeout> | undefined
    const draw = () => {
      timer = undefined
      const now = latest.current
      if (!now?.atEnd || (!gathered.length && !cursor)) return
      const next = withNewer(now, { events: gathered.splice(0), cursor }, { ...folding, keep: held() })
      show(isFull(next) ? { ...next, atEnd: false } : next)
    }
    const arrived = (items: Item[]) => {
      for (const item of items) {
        if (item.kind !== 'end' && item.kind !== 'ping' && item.kind !== 'refusal')
          gathered.push(item.data as TranscriptEvent)
        if (item.cursor) cursor = item.cursor
      }
      timer ??= setTimeout(draw, GATHER_MS)
    }
    const follow = async () => {
      for (let attempt = 0; !stop.signal.aborted; attempt++) {
        const opened = () => {
          attempt = 0
          setLive(true)
        }
        const after = cursor || latest.current?.cursor || undefined
        const ending = await readStream(addressOf('stream_session', { session_id, raw }), {
          signal: stop.signal,
          after,
          opened,
          arrived,
        }).catch(failure => failure)
        if (stop.signal.aborted) return
        setLive(false)
        // Everything was sent, or this browser is not allowed; the shell shows the latter.
        if (ending === undefined || (ending instanceof Refused && ending.status < 500)) return
        await pauseBefore(attempt, stop.signal)
      }
    }
    follow()
    return () => {
      stop.abort()
      clearTimeout(timer)
      draw()
      setLive(false)
    }
  }, [follows, session_id, raw, folding, held, show])

  const retry = useCallback(() => setTries(count => count + 1), [])
  return { window, entry, error, live, older, newer, goTo, toStart, toEnd, retry }
}
