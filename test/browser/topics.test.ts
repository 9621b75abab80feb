import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'
import { aPerson, withBrowser } from './kit.ts'

withBrowser()

const ticketIn = (page: Page): Promise<string> =>
  page.evaluate(`import('/pages/proof.js')
    .then(({ provenFetch }) => provenFetch('/api/live', {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}',
    }))
    .then(answer => answer.json())
    .then(({ ticket }) => ticket)`)

/** Opens a connection in the page and keeps what it is told. Resolves when it is open, or with the code it was closed with. */
const openIn = (page: Page, url: string, ticket: string): Promise<'open' | number> =>
  page.evaluate(`new Promise(resolve => {
    const socket = new WebSocket('${url.replace('http', 'ws')}/ws', ['fleet', 'ticket.${ticket}'])
    globalThis.told = []
    globalThis.endedWith = undefined
    socket.onopen = () => {
      socket.send(JSON.stringify({ type: 'subscribe', topics: ['fleet'] }))
      resolve('open')
    }
    socket.onmessage = ({ data }) => told.push(JSON.parse(data))
    socket.onclose = ({ code }) => { endedWith = code; resolve(code) }
  })`)

/** A page on another port of this machine, such as an agent could serve. */
async function elsewhere(): Promise<string> {
  const server = createServer((_, response) =>
    response.setHeader('content-type', 'text/html').end('<h1>Elsewhere</h1>'),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

test('a page follows topics with a ticket; one from elsewhere cannot, and a sign-out closes it', async () => {
  const { fleet, project } = await aScene()
  const { page, url, window } = await aPerson(fleet, { expects: /401|403|WebSocket/ })
  await page.goto(`${url}/docs`)
  const ticket = await ticketIn(page)
  const foreign = await window()
  await foreign.goto(await elsewhere())
  expect(await openIn(foreign, url, ticket)).toBe(1006)
  expect(await openIn(page, url, ticket)).toBe('open')
  expect(await openIn(await reopened(page), url, ticket)).toBe(1006)

  expect(await openIn(page, url, await ticketIn(page))).toBe('open')
  await isTrue(page, `told.some(({ type }) => type === 'subscribed')`)
  const { id } = await fleet.call<{ id: string }>('create_mission', {
    project_id: project.id,
    title: 'seen',
    prompt: 'true',
  })
  await isTrue(page, `told.some(({ kind, data }) => kind === 'mission_created' && data.mission_id === '${id}')`)

  const { devices } = await fleet.call<{ devices: { id: string }[] }>('list_devices')
  const since = performance.now()
  await fleet.call('sign_out_device', { device_id: devices[0]!.id })
  await isTrue(page, 'endedWith === 4401')
  expect(performance.now() - since).toBeLessThan(1500)
  expect(await page.evaluate('told.at(-1)')).toMatchObject({ type: 'refused', code: 'unauthorized' })
})

/** The policy of the page forbids what waitForFunction does. */
const isTrue = (page: Page, expression: string) => eventually(expression, () => page.evaluate<boolean>(expression))

async function reopened(page: Page): Promise<Page> {
  await page.reload()
  return page
}
