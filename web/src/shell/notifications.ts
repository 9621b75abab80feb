import { useSyncExternalStore } from 'react'
import { ask } from '../api/client.ts'
import { tell } from '../kit/toasts.tsx'
import { onEvents } from '../live/data.ts'
import type { FleetEvent } from '../live/fleet-events.ts'
import { newsIn } from './news.ts'

/** unable: the browser allows it only with TLS or on localhost. */
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

/** Called only by a click: a browser blocks pages that ask for permission without one. */
export async function switchNotifications(): Promise<void> {
  if (state() === 'unable')
    return tell({
      text: 'This browser cannot show notifications here',
      advice:
        'Browsers allow them only over TLS or on the machine of the server. A plugin can notify your phone instead.',
      tone: 'bad',
    })
  const wanted = state() === 'on' ? 'off' : 'on'
  if (wanted === 'on' && Notification.permission === 'default') await Notification.requestPermission()
  localStorage.setItem(KEY, wanted)
  for (const watcher of watchers) watcher()
  const now = state()
  if (now === 'blocked')
    tell({
      text: 'The browser blocks notifications from this page',
      advice: 'Allow them in its settings for this address, then press again.',
      tone: 'bad',
    })
  else
    tell({
      text:
        now === 'on'
          ? 'Notifications are on: you get one when something needs you and no window shows it'
          : 'Notifications are off',
    })
}

/** Notifies from one window only, and opens the right page on a click. */
export function startNotifying(go: (path: string) => void): () => void {
  const { serviceWorker } = navigator
  if (!serviceWorker) return () => {}
  serviceWorker.register('/sw.js', { updateViaCache: 'none' }).catch(() => {
    // Without it, everything but notifications works.
  })
  const led = ({ data }: MessageEvent<{ go?: string }>) => data.go && go(data.go)
  serviceWorker.addEventListener('message', led)
  const stop = new AbortController()
  // The lock is held while this window is open. Of several windows the oldest notifies, and then the next.
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
