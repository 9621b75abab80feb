import { expect, test, vi } from 'vitest'
import { serviceWorker } from '../../service-worker.mjs'

const CODE = await serviceWorker()
const NEWS = { title: 'An agent asks you', body: 'Which colour?', tag: 'm1', path: '/missions/m1' }

/** The worker with the windows that a browser would report. */
function aWorker(windows: { visibilityState: string }[]) {
  const handlers = new Map<string, (event: unknown) => void>()
  const open = windows.map(each => ({ ...each, postMessage: vi.fn(), focus: vi.fn() }))
  const shown = vi.fn()
  const openWindow = vi.fn()
  const self = {
    clients: { matchAll: async () => open, openWindow, claim: vi.fn() },
    registration: { showNotification: shown },
    skipWaiting: vi.fn(),
  }
  const listen = (name: string, handler: (event: unknown) => void) => handlers.set(name, handler)
  const fetched = vi.fn()
  new Function('self', 'addEventListener', 'fetch', CODE)(self, listen, fetched)
  const happens = async (name: string, event: object) => {
    const waited: Promise<unknown>[] = []
    handlers.get(name)!({ ...event, waitUntil: (work: Promise<unknown>) => waited.push(work) })
    await Promise.all(waited)
  }
  return { open, shown, openWindow, fetched, happens, handlers }
}

test('it notifies only if no window is visible', async () => {
  const hidden = aWorker([{ visibilityState: 'hidden' }])
  await hidden.happens('message', { data: NEWS })
  expect(hidden.shown).toHaveBeenCalledExactlyOnceWith(
    'An agent asks you',
    expect.objectContaining({ body: 'Which colour?', tag: 'm1', data: { path: '/missions/m1' } }),
  )
  const looking = aWorker([{ visibilityState: 'hidden' }, { visibilityState: 'visible' }])
  await looking.happens('message', { data: NEWS })
  expect(looking.shown).not.toHaveBeenCalled()
})

test('pressing it leads there, in a window that is open or in a new one', async () => {
  const notification = { close: vi.fn(), data: { path: '/missions/m1' } }
  const { open, happens } = aWorker([{ visibilityState: 'hidden' }])
  await happens('notificationclick', { notification })
  expect(open[0]!.postMessage).toHaveBeenCalledWith({ go: '/missions/m1' })
  expect(open[0]!.focus).toHaveBeenCalled()
  const none = aWorker([])
  await none.happens('notificationclick', { notification })
  expect(none.openWindow).toHaveBeenCalledWith('/missions/m1')
})

test('it never answers for the server: code is always fetched, and an honest page is shown where there is none', async () => {
  const { handlers, fetched } = aWorker([])
  const respondWith = vi.fn()
  handlers.get('fetch')!({ request: { mode: 'no-cors' }, respondWith })
  expect(respondWith).not.toHaveBeenCalled()
  fetched.mockRejectedValue(new TypeError('no connection'))
  handlers.get('fetch')!({ request: { mode: 'navigate' }, respondWith })
  const answer: Response = await respondWith.mock.calls[0]![0]
  expect(answer.status).toBe(503)
  expect(await answer.text()).toContain('fleet up')
  expect(CODE).not.toMatch(/caches|importScripts/)
})

test('a push message whose words cannot be had is a plain sentence', async () => {
  const { happens, shown, fetched } = aWorker([])
  fetched.mockRejectedValue(new TypeError('no connection'))
  await happens('push', { data: { json: () => ({ id: 'abc' }) } })
  await happens('push', { data: { json: () => ({ id: '../../sign-out' }) } })
  await happens('push', { data: null })
  const body = 'Open Flotilla to see what is waiting.'
  for (const tag of ['abc', 'unknown', 'unknown'])
    expect(shown).toHaveBeenCalledWith(
      'Something needs you',
      expect.objectContaining({ body, tag, data: { path: '/inbox' } }),
    )
  expect(fetched.mock.calls.map(([address]) => address)).toEqual(Array(3).fill('/sign-in/challenge'))
})
