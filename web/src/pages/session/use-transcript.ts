import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import type { Folding, TranscriptEvent } from '../../../../src/domain/rules/conversation.ts'
import { addressOf, ask, Refused } from '../../api/client.ts'
import { type Item, pauseBefore, readStream } from '../../live/read-stream.ts'
import { isFull, opened, type PageRead, type TranscriptWindow, withNewer, withOlder } from './transcript-window.ts'

const PAGE = 200
/** What comes within this time is drawn together. */
const GATHER_MS = 60

/** Where somebody came into the transcript: its list begins anew there. */
export interface Entry {
  number: number
  at: 'start' | 'end' | { event_id: string }
}

export interface Transcript {
  window: TranscriptWindow | undefined
  entry: Entry
  error: Error | undefined
  /** Whether what happens now is shown as it happens. */
  live: boolean
  older(): Promise<void>
  newer(): Promise<void>
  /** Shows what is around the event that ends at a place. */
  goTo(cursor: string): Promise<void>
  toStart(): Promise<void>
  toEnd(): Promise<void>
  retry(): void
}

interface Reading extends Folding {
  raw: boolean
  /** Opened here instead of at its end. */
  at: string | null
  /** Somebody reads further up: nothing there may be let go of. */
  held: () => boolean
}

const watchVisibility = (watcher: () => void) => {
  document.addEventListener('visibilitychange', watcher)
  return () => document.removeEventListener('visibilitychange', watcher)
}

/** A part of a session's transcript, that can be moved along it and that grows while the session goes on. */
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
  /** One at a time: two pages read at once would not fit together. */
  const alone = useCallback((work: () => Promise<void>): Promise<void> => {
    const done = (reading.current ?? Promise.resolve()).then(work).catch(setError)
    reading.current = done
    return done
  }, [])

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
      alone(async () => {
        const now = latest.current
        if (!now || now.atStart) return
        const page = await read({ before: now.start })
        if (latest.current) show(withOlder(latest.current, page, folding))
      }),
    [alone, read, show, folding],
  )
  const newer = useCallback(
    () =>
      alone(async () => {
        const now = latest.current
        if (!now || now.atEnd) return
        const page = await read({ after: now.cursor })
        if (latest.current) show(withNewer(latest.current, page, folding))
      }),
    [alone, read, show, folding],
  )

  // biome-ignore lint/correctness/useExhaustiveDependencies: opened once for each session and view, and again when asked
  useEffect(() => {
    latest.current = undefined
    setWindow(undefined)
    setError(undefined)
    if (at) goTo(at)
    else toEnd()
  }, [session_id, raw, tries])

  // Also of a session that has ended: what it printed last may not have been at hand.
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
        if (item.kind && item.kind !== 'end' && item.kind !== 'ping' && item.kind !== 'refusal')
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
        // It ended because all was told; or this browser may not, which the shell says.
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
