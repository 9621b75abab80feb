import { expect, test } from 'vitest'
import { put } from '../../src/fleet/records.ts'
import { aScene } from '../kit/scene.ts'
import { aWrittenSession } from '../kit/written-session.ts'
import { aPerson, expectAccessible, screenshot, settled, withBrowser } from './kit.ts'

withBrowser()

/** One mission that landed and one that failed. */
async function aDay() {
  const scene = await aScene({ project: { name: 'Ship' } })
  const { fleet, project } = scene
  const hull = await fleet.mission(project, 'echo hull > hull.txt', { title: 'Draw the hull', agent: 'shell' })
  await fleet.until(hull.id, 'done')
  const mast = await fleet.mission(project, 'exit 3', { title: 'Set the mast', agent: 'shell', max_retries: 0 })
  await fleet.until(mast.id, 'failed')
  return { ...scene, hull: hull.id, mast: mast.id }
}

test('activity tells what happened in sentences, by mission, without usage, and filters by words', async () => {
  const { fleet } = await aDay()
  const { page, visit } = await aPerson(fleet)
  await visit('/activity')
  const hull = page.locator('.activity-group').filter({ hasText: 'Draw the hull' })
  await hull.getByText(/^Landed on main/).waitFor()
  await hull.getByText(/finished$/).waitFor()
  await settled(page)
  await screenshot(page, 'activity')
  await expectAccessible(page)
  const words = await page.locator('main').innerText()
  expect(words).not.toMatch(/usage|session_|[a-z]+_[a-z]+|\{"/)
  await page.getByLabel('Filter by words').fill('mast')
  await hull.waitFor({ state: 'detached' })
  await page.locator('.activity-group').filter({ hasText: 'Set the mast' }).waitFor()
  await page.getByLabel('Filter by words').fill('nothing like that')
  await page.getByText('No results').waitFor()
}, 120_000)

test('reports are a table with filters, and each opens in full', async () => {
  const { fleet, hull } = await aDay()
  const { page, visit } = await aPerson(fleet)
  await visit('/reports')
  await page.getByRole('row').filter({ hasText: 'Set the mast' }).waitFor()
  await settled(page)
  await screenshot(page, 'reports')
  await page.getByLabel('Outcome').click()
  await page.getByRole('option', { name: 'Completed' }).click()
  await page.getByRole('row').filter({ hasText: 'Set the mast' }).waitFor({ state: 'detached' })
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Draw the hull' }).click()
  await page.getByRole('heading', { level: 1, name: 'Draw the hull' }).waitFor()
  await page.getByText('hull.txt').waitFor()
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Mission', exact: true }).click()
  await page.waitForURL(url => url.pathname === `/missions/${hull}`)
  await visit('/reports?to=2020-01-01')
  await page.getByText('No results').waitFor()
}, 120_000)

test('the graph shows connected missions only, and is a list on a phone', async () => {
  const { fleet, project, gate } = await aScene()
  const first = await fleet.mission(project, gate('sails').wait, { title: 'Sew the sails', agent: 'shell' })
  await fleet.until(first.id, 'running')
  await fleet.mission(project, 'true', { title: 'Hoist the sails', agent: 'shell', depends_on: [first.id] })
  const alone = { project_id: project.id, title: 'Name the boat', prompt: 'Find a name', agent: 'shell' }
  await fleet.call('create_mission', alone)
  const desk = await aPerson(fleet)
  await desk.visit('/graph')
  await desk.page.getByText('Hoist the sails').waitFor()
  await settled(desk.page)
  await screenshot(desk.page, 'graph')
  expect(await desk.page.getByText('Name the boat').count()).toBe(0)
  await desk.page.getByText('1 open mission without connections').waitFor()
  await expectAccessible(desk.page)
  const phone = await aPerson(fleet, { size: 'phone' })
  await phone.visit('/graph')
  const list = phone.page.getByRole('list', { name: 'Missions and dependencies' })
  await list.getByText('After Sew the sails').waitFor()
  await screenshot(phone.page, 'graph-phone')
  await expectAccessible(phone.page)
}, 120_000)

test('costs have axes, a forecast, missions and an export, and name models without a price', async () => {
  const { fleet, project } = await aScene({ project: { name: 'Ship' } })
  const day = fleet.fleet.now().slice(0, 10)
  const used = { input_tokens: 1000, output_tokens: 500, reasoning_tokens: 0, cache_read_tokens: 0 }
  const row = { ...used, cache_write_tokens: 0, turns: 2, untold_answers: 0, day, project_id: project.id, sessions: 1 }
  await fleet.fleet.store.commit({
    changes: [
      put('spending', { ...row, id: 'a', agent: 'claude', model: 'opus', cost_usd: 3.2 }, 'absent'),
      put('spending', { ...row, id: 'b', agent: 'codex', model: 'brand-new', cost_usd: 0 }, 'absent'),
    ],
  })
  const { mission } = await aWrittenSession(fleet, project, { agent: 'claude', stdout: [] })
  const { page, visit } = await aPerson(fleet)
  await visit('/costs?days=7&by=model')
  await page.getByText('The price is not known: brand-new').waitFor()
  await page.getByText('Forecast for today').waitFor()
  expect(await page.locator('.chart-scale').innerText()).toContain('$5.00')
  await page.locator('.bars g').last().hover()
  await page.locator('.chart-told').getByText('$3.20').first().waitFor()
  await settled(page)
  await screenshot(page, 'costs')
  await expectAccessible(page)
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  expect((await saved).suggestedFilename()).toBe('costs-7-days.csv')
  await page.getByRole('link', { name: 'a long talk' }).click()
  await page.waitForURL(url => url.pathname === `/missions/${mission}`)
}, 120_000)
