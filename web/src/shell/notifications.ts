import { useSyncExternalStore } from 'react'
import { ask, newKey } from '../api/client.ts'
import { complain, tell } from '../kit/toasts.tsx'
import { onEvents, queryClient } from '../live/data.ts'
import type { FleetEvent } from '../live/fleet-events.ts'
import { mayNow } from '../live/me.ts'
import { newsIn } from './news.ts'

/**
 * push: also while no window is open. window: only while one is. unable: the browser allows neither at this address;
 * it wants TLS or localhost.
 */
export type Notifying = 'push' | 'window' | 'off' | 'blocked' | 'unable'

const KEY = 'fleet-notify'
const watchers = new Set<() => void>()

function state(): Notifying {
  if (!('Notification' in window) || !navigator.serviceWorker) return 'unable'
  if (Notification.permission === 'denied') return 'blocked'
  const chosen = localStorage.getItem(KEY)
  if (Notification.permission !== 'granted' || !chosen || chosen === 'off') return 'off'
  return chosen === 'push' ? 'push' : 'window'
}

function choose(chosen: 'push' | 'window' | 'off'): void {
  localStorage.setItem(KEY, chosen)
  for (const watcher of watchers) watcher()
}

export const useNotifying = (): Notifying =>
  useSyncExternalStore(watcher => {
    watchers.add(watcher)
    return () => watchers.delete(watcher)
  }, state)

/** Called only by a click: a browser blocks pages that ask for permission without one. */
export async function switchNotifications(): Promise<void> {
  const now = state()
  if (now === 'unable')
    return tell({
      text: 'This browser cannot show notifications at this address',
      advice: 'Browsers need https or localhost. Settings has other channels: ntfy and e-mail.',
      tone: 'bad',
    })
  if (now === 'push' || now === 'window') return switchOff()
  if (Notification.permission === 'default') await Notification.requestPermission()
  if (Notification.permission !== 'granted')
    return tell({
      text: 'The browser blocks notifications from this page',
      advice: 'Allow them in the browser’s settings for this address, then try again.',
      tone: 'bad',
    })
  if (!mayNow(queryClient)('subscribe_browser')) {
    choose('window')
    return tell({ text: 'Notifications are on while a window of this page is open' })
  }
  try {
    await subscribe()
    choose('push')
    tell({ text: 'Notifications are on, also while this page is closed' })
  } catch (error) {
    choose('window')
    tell({
      text: 'Notifications are on while a window of this page is open',
      advice: `This browser could not be reached with the page closed: ${(error as Error).message}`,
    })
  }
  queryClient.invalidateQueries({ queryKey: ['get_notification_settings'] })
}

async function switchOff(): Promise<void> {
  try {
    const { pushManager } = await navigator.serviceWorker.ready
    if (state() === 'push') await ask('unsubscribe_browser', {}, { key: newKey() })
    await (await pushManager?.getSubscription())?.unsubscribe()
    choose('off')
    tell({ text: 'Notifications are off in this browser' })
    queryClient.invalidateQueries({ queryKey: ['get_notification_settings'] })
  } catch (error) {
    complain(error)
  }
}

async function subscribe(): Promise<void> {
  const { pushManager } = await navigator.serviceWorker.ready
  if (!pushManager) throw new Error('it has no push service.')
  const { push } = await ask('get_notification_settings', {})
  const applicationServerKey = push.public_key
  const known = await pushManager.getSubscription()
  // One for the key of another home, such as before a new set-up, gets messages of nobody.
  if (known && base64(known.options.applicationServerKey) !== applicationServerKey) await known.unsubscribe()
  const { endpoint, keys } = (await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey })).toJSON()
  if (!endpoint || !keys?.p256dh || !keys.auth) throw new Error('its push service gave no keys.')
  await ask('subscribe_browser', { endpoint, p256dh: keys.p256dh, auth: keys.auth }, { key: newKey() })
}

const base64 = (bytes: ArrayBuffer | null): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes ?? new ArrayBuffer(0))))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

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

/** With push, the server tells the browser. */
async function notify(events: readonly FleetEvent[]): Promise<void> {
  if (state() !== 'window' || newsIn(events, () => '').length === 0) return
  const ids = [...new Set(events.flatMap(({ mission_id }) => mission_id ?? []))].slice(0, 200)
  const { missions } = ids.length ? await ask('list_missions', { ids, limit: 200 }) : { missions: [] }
  const titles = new Map(missions.map(({ id, title }) => [id, title]))
  const { active } = await navigator.serviceWorker.ready
  for (const news of newsIn(events, id => titles.get(id))) active?.postMessage(news)
}
