import { networkInterfaces } from 'node:os'
import { expect, onTestFinished, test } from 'vitest'
import { OPERATIONS } from '../../src/operations/index.ts'
import { routeOf } from '../../src/operations/shape.ts'
import { aScene } from '../kit/scene.ts'
import { aPerson, withBrowser } from './kit.ts'
import { comeIn, signInLink } from './opening.ts'

withBrowser()

/** An agent's own server. It keeps everything it is sent, and returns it at /got. */
const LISTENER = [
  'const got = []',
  "const page = (request, response) => { got.push(request.headers); response.setHeader('content-type', 'text/html'); response.end(request.url === '/got' ? JSON.stringify(got) : '<h1>Preview</h1>') }",
  "require('node:http').createServer(page).listen(process.env.PORT, '127.0.0.1')",
  "console.log('Ready at http://127.0.0.1:' + process.env.PORT + '/')",
].join('; ')

test('a listener on another port gets nothing by a click on Preview that opens any operation, stream or MCP', async () => {
  const { fleet, project } = await aScene({
    project: { landing: 'review', preview_command: `exec node -e "${LISTENER}"` },
  })
  const { id } = await fleet.mission(project, 'echo hello > page.txt', { title: 'Look at me' })
  await fleet.until(id, 'review')
  const { page, visit, url, context } = await aPerson(fleet)
  // The preview outlives its server, so it is also stopped if the test fails.
  onTestFinished(async () => void (await fleet.fleetCommand(['preview', 'stop', id])))
  await visit(`/missions/${id}?tab=hands`)
  await page
    .locator('section.section')
    .filter({ has: page.getByRole('heading', { name: 'Preview', exact: true }) })
    .getByRole('button', { name: 'Start' })
    .click()
  const link = page.getByRole('link', { name: /^http:\/\/127\.0\.0\.1:\d+\/$/ })
  await link.waitFor()
  expect((await link.getAttribute('rel'))!.split(' ').toSorted()).toEqual(['noopener', 'noreferrer'])
  const [preview] = await Promise.all([context.waitForEvent('page'), link.click()])
  await preview.getByRole('heading', { name: 'Preview' }).waitFor()
  expect(await preview.evaluate('opener === null && document.referrer === ""')).toBe(true)

  const sent = (await (await fetch(new URL('/got', preview.url()))).json()) as Record<string, string>[]
  const visits = sent.filter(headers => headers['user-agent']?.includes('Chrome'))
  expect(visits.length).toBeGreaterThan(0)
  // Also the cookies that the browser would send to any other port.
  const jar = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ')
  const stolen = [...visits.map(({ cookie = '' }) => cookie), jar]
  for (const cookie of new Set(stolen)) {
    const headers = { cookie, origin: url, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }
    for (const operation of OPERATIONS) {
      const { method, path, rest } = routeOf(operation)
      const { status } = await fetch(url + path.replace(/:\w+/g, id), {
        method,
        headers,
        ...(rest === 'body' && { body: '{}' }),
      })
      expect([operation.name, status]).toEqual([operation.name, 401])
    }
    const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    const mcp = { ...headers, accept: 'application/json, text/event-stream' }
    expect((await fetch(`${url}/mcp`, { method: 'POST', headers: mcp, body: call })).status).toBe(401)
    expect((await fetch(`${url}/mcp/sse`, { headers })).status).toBe(401)
    expect((await fetch(`${url}/sign-out`, { method: 'POST', headers })).status).toBe(401)
  }
  // The page itself keeps working.
  await visit('/')
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
})

test('the key cannot be read by scripts, each request is signed anew, and signing costs next to nothing', async () => {
  const { fleet } = await aScene()
  const { page, visit, context } = await aPerson(fleet)
  const sent: string[] = []
  context.on('request', request => {
    const { authorization } = request.headers()
    if (authorization) sent.push(authorization)
  })
  await visit('/missions?view=list')
  await page.getByText('No missions yet').waitFor()
  expect(sent.length).toBeGreaterThan(3)
  expect(sent.every(each => each.startsWith('Fleet-Proof '))).toBe(true)
  expect(new Set(sent).size).toBe(sent.length)
  expect(await context.cookies()).toEqual([])
  expect(await page.evaluate('Object.keys(localStorage).concat(Object.keys(sessionStorage)).join()')).not.toMatch(
    /key|token|device/,
  )
  const tried = (await page.evaluate(`new Promise((resolve, reject) => {
    const opening = indexedDB.open('fleet', 1)
    opening.onerror = reject
    opening.onsuccess = () => {
      const all = opening.result.transaction('keys').objectStore('keys').getAll()
      all.onsuccess = async () => {
        const [{ key }] = all.result
        const exported = await Promise.all(
          ['pkcs8', 'jwk', 'raw'].map(form => crypto.subtle.exportKey(form, key).then(() => 'read', () => 'refused')))
        const text = new Uint8Array(300)
        const begun = performance.now()
        for (let each = 0; each < 100; each++)
          await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, text)
        resolve({ kept: all.result.length, extractable: key.extractable, exported, ms: (performance.now() - begun) / 100 })
      }
    }
  })`)) as { kept: number; extractable: boolean; exported: string[]; ms: number }
  console.info(`a signature takes ${tried.ms.toFixed(2)} ms`)
  expect(tried).toMatchObject({ kept: 1, extractable: false, exported: ['refused', 'refused', 'refused'] })
  expect(tried.ms).toBeLessThan(20)
})

test('a browser that is signed out elsewhere loses its open page at once, and a link that was used says so', async () => {
  const { fleet } = await aScene()
  const { page, context, url } = await aPerson(fleet, { expects: /401/ })
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
  const { stdout } = await fleet.fleetCommand(['device', 'list', '--json'])
  const { devices } = JSON.parse(stdout) as { devices: { id: string; via: string }[] }
  expect(devices).toMatchObject([{ via: 'link', key: 'p256' }])
  expect(await fleet.fleetCommand(['device', 'sign-out', devices[0]!.id])).toMatchObject({ code: 0 })
  await page.getByText('This browser is signed out').waitFor()

  const link = await signInLink(fleet)
  await comeIn(page, link)
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
  const stranger = await context.browser()!.newContext()
  const there = await stranger.newPage()
  await there.goto(link)
  await there.getByText('This link no longer works').waitFor()
  await there.goto(`${url}/docs`)
  await there.getByRole('heading', { name: 'Sign in to Flotilla' }).waitFor()
  await stranger.close()
  await page.goto(`${url}/docs`)
  await page.getByText('list_missions').first().waitFor()
  // A typed address of an operation has no proof.
  await page.goto(`${url}/api/missions`)
  await page.getByText('This address is for programs').waitFor()
})

const OUTSIDE = Object.values(networkInterfaces())
  .flatMap(each => each ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address

test.skipIf(!OUTSIDE)(
  'at an unencrypted address of a network a browser signs with a secret, and is listed so',
  async () => {
    const { fleet } = await aScene({ start: false })
    await fleet.start({ args: ['--host', '0.0.0.0', '--allow-insecure'] })
    const { page } = await aPerson(fleet)
    const link = (await signInLink(fleet)).replace('localhost', OUTSIDE!)
    const phone = await page.context().browser()!.newContext({ userAgent: 'iPhone Safari/1' })
    const there = await phone.newPage()
    await comeIn(there, link)
    expect(await there.evaluate('isSecureContext')).toBe(false)
    await there.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
    await there.goto(`${new URL(link).origin}/missions?view=list`)
    await there.getByText('No missions yet').waitFor()
    const { devices } = await fleet.call<{ devices: object[] }>('list_devices')
    expect(devices).toMatchObject([{ name: 'iPhone, Safari', key: 'shared' }, { key: 'p256' }])
    await phone.close()
  },
)
