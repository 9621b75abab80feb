import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, withBrowser } from './kit.ts'

withBrowser()

/** Errors of a browser whose server is gone. */
const AWAY = /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED|503/

/** The cursors of all events that the reading window passes on, in order. */
async function listenIn(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const told: string[] = []
    Object.assign(globalThis, { told })
    new BroadcastChannel('fleet-events').onmessage = ({ data }) => {
      if (data.what === 'items')
        for (const item of data.items) if (item.kind && item.kind !== 'ping') told.push(item.data.cursor)
    }
  })
  return () => page.evaluate(() => (globalThis as unknown as { told: string[] }).told)
}

test('the server is killed and comes back: nothing is missing, nothing is there twice', async () => {
  const { fleet, project } = await aScene()
  const draft = (title: string) =>
    fleet.call('create_mission', { project_id: project.id, title, detailed_prompt: 'true' })
  const { page, visit, url } = await aPerson(fleet, { expects: AWAY })
  await visit('/missions?view=list')
  await page.getByText('No missions yet').waitFor()
  const told = await listenIn(page)
  await draft('Before')
  await page.getByText('Before').waitFor()
  const before = (await fleet.events()).length

  await fleet.kill()
  await page.getByText('Connection lost').waitFor()
  await screenshot(page, 'connection-lost-light')
  // A new window gets a page that says so and keeps trying.
  const late = await page.context().newPage()
  await late.goto(url).catch(() => {})
  await late.getByRole('heading', { name: 'Flotilla is offline' }).waitFor()
  for (let each = 1; each <= 5; each++) await draft(`Meanwhile ${each}`)

  await fleet.start()
  await page.getByText('Connection lost').waitFor({ state: 'detached' })
  await page.getByText('6 missions').waitFor()
  await late.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
  await draft('After')
  await page.getByText('7 missions').waitFor()
  const titles = await page.locator('.row-title').allInnerTexts()
  expect(titles).toEqual(['After', 'Meanwhile 5', 'Meanwhile 4', 'Meanwhile 3', 'Meanwhile 2', 'Meanwhile 1', 'Before'])

  // Also at the source: every event since then, once and in order.
  const cursors = (await fleet.events()).slice(before).map(({ cursor }) => cursor)
  await expect.poll(async () => (await told()).slice(-cursors.length)).toEqual(cursors)
  expect(new Set(await told()).size).toBe((await told()).length)
})

test('what is sent as the server dies stays in its box, and sent again is done once', async () => {
  const { fleet, project } = await aScene()
  const { page, visit } = await aPerson(fleet, { expects: AWAY })
  await visit('/')
  await page.getByRole('combobox', { name: 'Agent' }).click()
  await page.getByRole('option', { name: /shell/i }).click()
  await page.getByLabel('Script', { exact: true }).fill('echo once > once.txt')
  // The command arrives and is carried out, but its answer is lost, twice.
  let heard = 0
  await page.route('**/api/missions', async route => {
    if (route.request().method() !== 'POST') return route.continue()
    await route.fetch()
    heard++
    if (heard === 2) await fleet.kill()
    await route.abort('connectionreset')
  })
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.locator('.toast').getByText('The server does not answer').waitFor()
  await page.unroute('**/api/missions')
  await fleet.start()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.locator('.toast').getByText('is queued').waitFor()
  const { missions } = (await fleet.call('list_missions', { project_id: project.id })) as { missions: object[] }
  expect([heard, missions.length]).toEqual([2, 1])
})

test('two windows share one connection, and when the one that has it is closed the other goes on without a gap', async () => {
  const { fleet, project } = await aScene()
  const draft = (title: string) =>
    fleet.call('create_mission', { project_id: project.id, title, detailed_prompt: 'true' })
  const person = await aPerson(fleet)
  const streams: Page[] = []
  person.context.on('request', request => {
    if (request.url().includes('/api/events/stream')) streams.push(request.frame().page())
  })
  await person.visit('/missions?view=list')
  await person.page.getByText('No missions yet').waitFor()
  const other = await person.window()
  await other.goto(`${person.url}/missions?view=list`)
  await other.getByText('No missions yet').waitFor()
  for (let each = 1; each <= 3; each++) await draft(`Shared ${each}`)
  await person.page.getByText('3 missions').waitFor()
  await other.getByText('3 missions').waitFor()
  expect(new Set(streams)).toEqual(new Set([person.page]))

  const told = await listenIn(other)
  const creating = Promise.all(Array.from({ length: 10 }, (_, each) => draft(`While it closes ${each}`)))
  await person.page.close()
  await creating
  await draft('At the end')
  await other.getByText('14 missions').waitFor()
  expect(new Set(await other.locator('.row-title').allInnerTexts()).size).toBe(14)
  expect(streams.at(-1)).toBe(other)
  expect(new Set(await told()).size).toBe((await told()).length)
})

test('without a sign-in, or with a wrong token, nothing is shown but the way in', async () => {
  const { fleet } = await aScene()
  const { page, url, context } = await aPerson(fleet, { expects: /401/ })
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByPlaceholder('Find a mission').fill('sign out')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Sign in to Flotilla' }).waitFor()
  expect(await context.cookies()).toEqual([])
  await expectAccessible(page)
  await screenshot(page, 'signed-out-light')

  const token = page.getByLabel('Token')
  await token.fill('guessed')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('This is not the token of this fleet.').waitFor()
  await page.goto(`${url}/sign-in?token=link.1.old`)
  await page.getByText('This link no longer works').waitFor()
  expect(page.url()).not.toContain('old')
  await page.goto(`${url}/missions?view=list`)
  await page.getByText('This browser is not signed in yet').waitFor()
  await token.fill(` ${await fleet.fleet.keys.ownerToken()}\n`)
  await token.press('Enter')
  await page.getByText('No missions yet').waitFor()
  expect(page.url()).toBe(`${url}/missions?view=list`)
})
