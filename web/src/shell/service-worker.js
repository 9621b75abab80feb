// Does what a page cannot: shows notifications that lead somewhere, also while no page is open, and says so when there
// is no server. It keeps nothing: all code comes from the server, each time, so that none of it can be old.
import { heedChallenge, provenFetch } from '../../../src/server/pages/proof.js'
import offline from './offline.html'

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  // The page is fixed: nothing in it comes from anywhere else.
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'",
}

addEventListener('install', () => self.skipWaiting())
addEventListener('activate', event => event.waitUntil(self.clients.claim()))

addEventListener('fetch', event => {
  if (event.request.mode !== 'navigate') return
  event.respondWith(fetch(event.request).catch(() => new Response(offline, { status: 503, headers: HEADERS })))
})

const windows = () => self.clients.matchAll({ type: 'window', includeUncontrolled: true })

// A page says what needs its person; who looks at any window of it sees it there.
addEventListener('message', event => event.waitUntil(notify(event.data)))

async function notify({ title, body, path, tag }) {
  const open = await windows()
  if (open.some(({ visibilityState }) => visibilityState === 'visible')) return
  await show({ title, body, path, tag })
}

const show = ({ title, body, path, tag }) =>
  self.registration.showNotification(title, { body, tag, icon: '/icon-192.png', data: { path } })

// A push message is an id. The server gives the words to this browser only, which proves who it is.
addEventListener('push', event => event.waitUntil(told(event.data)))

async function told(data) {
  const id = idIn(data)
  const found = await wordsOf(id).catch(() => undefined)
  if (found?.need === 'test') return show(found)
  if (found) return notify(found)
  // Signed out, or the server cannot be reached from here.
  const body = 'Open Flotilla to see what is waiting.'
  return notify({ title: 'Something needs you', body, path: '/inbox', tag: id ?? 'unknown' })
}

function idIn(data) {
  try {
    const { id } = data.json()
    return /^[0-9a-z]{1,40}$/.test(id) ? id : undefined
  } catch {
    return undefined
  }
}

async function wordsOf(id) {
  heedChallenge(await (await fetch('/sign-in/challenge')).json())
  const response = await provenFetch(`/api/notifications/${id}`)
  return response.ok ? response.json() : undefined
}

addEventListener('notificationclick', event => {
  event.notification.close()
  event.waitUntil(lead(event.notification.data.path))
})

async function lead(path) {
  const [open] = await windows()
  if (!open) return self.clients.openWindow(path)
  open.postMessage({ go: path })
  return open.focus()
}
