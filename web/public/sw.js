// Does what a page cannot: shows a notification that leads somewhere, and says so when there is no server.
// It keeps nothing: all code comes from the server, each time, so that none of it can be old.
const OFFLINE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="5">
<title>Flotilla does not answer</title>
<h1>Flotilla does not answer</h1>
<p>The server is stopped, or this device is not connected to it. Agents that were at work go on without it.</p>
<p>On its machine: <code>fleet up</code></p>
<p>This page looks again every five seconds. <a href="">Look now</a></p>
</html>`
const HEADERS = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': "default-src 'none'" }

addEventListener('install', () => self.skipWaiting())
addEventListener('activate', event => event.waitUntil(self.clients.claim()))

addEventListener('fetch', event => {
  if (event.request.mode !== 'navigate') return
  event.respondWith(fetch(event.request).catch(() => new Response(OFFLINE, { status: 503, headers: HEADERS })))
})

const windows = () => self.clients.matchAll({ type: 'window', includeUncontrolled: true })

// A page says what needs its person; who looks at any window of it sees it there.
addEventListener('message', event => event.waitUntil(notify(event.data)))

async function notify({ title, body, path, tag }) {
  const open = await windows()
  if (open.some(({ visibilityState }) => visibilityState === 'visible')) return
  await self.registration.showNotification(title, { body, tag, icon: '/icon-192.png', data: { path } })
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
