import { useSyncExternalStore } from 'react'
import { ask } from '../api/client.ts'
import { tell } from '../kit/toasts.tsx'
import { onEvents } from '../live/data.ts'
import type { FleetEvent } from '../live/fleet-events.ts'
import { newsIn } from './news.ts'

/** unable: the browser offers it only on pages that came over TLS or from this machine. */
export type Notifying = 'on' | 'off' | 'blocked' | 'unable'

const KEY = 'fleet-notify'
const watchers = new Set<() => void>()

function state(): Notifying {
  if (!('Notification' in window) || !navigator.serviceWorker) return 'unable'
  if (Notification.permission === 'denied') return 'blocked'
  return Notification.permission === 'granted' && localStorage.getItem(KEY) === 'on' ? 'on' : 'off'
}

export const useNotifying = (): Notifying =>
  useSyncExternalStore(watcher => {
    watchers.add(watcher)
    return () => watchers.delete(watcher)
  }, state)

/** Only ever because the person pressed for it: a page that asks by itself is told no, for good. */
export async function switchNotifications(): Promise<void> {
  if (state() === 'unable')
    return tell({
      text: 'This browser cannot notify here',
      advice: 'It does so only for pages over TLS or from its own machine. A plugin can tell your phone instead.',
      tone: 'bad',
    })
  const wanted = state() === 'on' ? 'off' : 'on'
  if (wanted === 'on' && Notification.permission === 'default') await Notification.requestPermission()
  localStorage.setItem(KEY, wanted)
  for (const watcher of watchers) watcher()
  const now = state()
  if (now === 'blocked')
    tell({
      text: 'The browser has blocked notifications of this page',
      advice: 'Allow them in its settings for this address, then press again.',
      tone: 'bad',
    })
  else
    tell({
      text: now === 'on' ? 'You are told when something needs you and no window shows it' : 'You are not told any more',
    })
}

/** Tells of what needs a person, from one window only, and leads there when the person presses it. */
export function startNotifying(go: (path: string) => void): () => void {
  const { serviceWorker } = navigator
  if (!serviceWorker) return () => {}
  serviceWorker.register('/sw.js', { updateViaCache: 'none' }).catch(() => {
    // Without it the page does all but notify.
  })
  const led = ({ data }: MessageEvent<{ go?: string }>) => data.go && go(data.go)
  serviceWorker.addEventListener('message', led)
  const stop = new AbortController()
  // Held as long as this window is open: of several the oldest tells, and then the next.
  const telling = () =>
    new Promise<void>(resolve => {
      const quiet = onEvents(events => void notify(events))
      stop.signal.addEventListener('abort', () => {
        quiet()
        resolve()
      })
    })
  navigator.locks.request('fleet-notify', { signal: stop.signal }, telling).catch(() => {})
  return () => {
    stop.abort()
    serviceWorker.removeEventListener('message', led)
  }
}

async function notify(events: readonly FleetEvent[]): Promise<void> {
  if (state() !== 'on' || newsIn(events, () => '').length === 0) return
  const ids = [...new Set(events.flatMap(({ mission_id }) => mission_id ?? []))].slice(0, 200)
  const { missions } = ids.length ? await ask('list_missions', { ids, limit: 200 }) : { missions: [] }
  const titles = new Map(missions.map(({ id, title }) => [id, title]))
  const { active } = await navigator.serviceWorker.ready
  for (const news of newsIn(events, id => titles.get(id))) active?.postMessage(news)
}
