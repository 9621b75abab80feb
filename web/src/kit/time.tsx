import { useSyncExternalStore } from 'react'
import { ago, duration, exactTime } from './words.ts'

const TICK_MS = 1000
let now = Date.now()
const watchers = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

function watchClock(watcher: () => void): () => void {
  watchers.add(watcher)
  if (!timer) now = Date.now()
  timer ??= setInterval(() => {
    now = Date.now()
    if (!document.hidden) for (const each of watchers) each()
  }, TICK_MS)
  return () => {
    watchers.delete(watcher)
    if (watchers.size) return
    clearInterval(timer)
    timer = undefined
  }
}

/**
 * How long ago, with the exact time on hover. One clock serves the whole page, and only texts that change are drawn
 * again.
 */
export function Time({ at }: { at: string }) {
  const text = useSyncExternalStore(watchClock, () => ago(at, now))
  return (
    <time dateTime={at} title={exactTime(at)} className="time">
      {text}
    </time>
  )
}

/** How long something has taken, or took. */
export function Elapsed({ from, to }: { from: string; to?: string | null }) {
  const text = useSyncExternalStore(watchClock, () => duration(((to ? Date.parse(to) : now) - Date.parse(from)) / 1000))
  return (
    <time dateTime={from} title={`since ${exactTime(from)}`} className="time">
      {text}
    </time>
  )
}
