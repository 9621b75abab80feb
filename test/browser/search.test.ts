import { mkdirSync, rmSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { eventually } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'
import { aWrittenSession, claudeTurn } from '../kit/written-session.ts'
import { aPerson, expectAccessible, screenshot, settled, withBrowser } from './kit.ts'

withBrowser()

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByPlaceholder('Find a mission').waitFor()
}

/** A fleet with an old mission, its report and a long transcript, all in the index. */
async function aPast() {
  const scene = await aScene({ start: false, repository: { files: { 'src/rudder.ts': 'export const rudder = 7\n' } } })
  const { fleet, project } = scene
  const old = await fleet.call<{ id: string }>('create_mission', {
    project_id: project.id,
    title: 'Repair the compass',
    prompt: 'The needle points to the galvanised bucket.',
    agent: 'shell',
  })
  for (let n = 0; n < 30; n++)
    await fleet.call('create_mission', {
      project_id: project.id,
      title: `Swab deck ${n}`,
      prompt: 'Swab.',
      agent: 'shell',
    })
  const turns = Array.from({ length: 300 }, (_, n) => [
    ...claudeTurn(n, { text: n === 40 ? 'The barnacles are gone.' : `Scraping plank ${n}.` }),
  ])
  const { session } = await aWrittenSession(fleet, project, { agent: 'claude', stdout: turns.flat() })
  await fleet.start()
  const hits = async (text: string) => (await fleet.call<{ hits: unknown[] }>('search', { text })).hits.length
  await eventually(
    'everything is in the index',
    async () => ((await hits('barnacles').catch(() => 0)) > 0 && (await hits('compass')) > 0) || undefined,
  )
  return { ...scene, old: old.id, session }
}

test('an old mission is found in three acts: open, type, enter', async () => {
  const { fleet, old } = await aPast()
  const { page } = await aPerson(fleet)
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
  await openPalette(page)
  await page.keyboard.type('galvanised')
  await page.getByRole('option', { name: /Repair the compass/ }).waitFor()
  await screenshot(page, 'palette-results')
  await expectAccessible(page)
  await page.keyboard.press('Enter')
  await page.waitForURL(url => url.pathname === `/missions/${old}`)
  await page.getByText('galvanised bucket').first().waitFor()
  // The words are marked where they are.
  await eventually('the word is marked', () =>
    page.evaluate<boolean>(`(CSS.highlights.get('found')?.size ?? 0) > 0 || undefined`),
  )

  // It is among the recent ones now.
  await openPalette(page)
  await page.getByRole('group', { name: 'Recent' }).getByText('Repair the compass').waitFor()
  await page.keyboard.type('zzzz nothing')
  await page.getByText('No results').waitFor()
  await screenshot(page, 'palette-no-results')
}, 120_000)

test('a hit in a transcript opens it there; filters and files work, and no result says so', async () => {
  const { fleet, session, project } = await aPast()
  const { page, visit } = await aPerson(fleet)
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
  await page.keyboard.press('/')
  await page.getByRole('heading', { level: 1, name: 'Search' }).waitFor()
  await page.getByLabel('Search for').fill('barnacles')
  const hit = page.getByRole('listitem').filter({ hasText: 'The barnacles are gone' })
  await hit.waitFor()
  await settled(page)
  await screenshot(page, 'search-results')
  await expectAccessible(page)
  await hit.getByRole('link').click()
  await page.waitForURL(url => url.pathname === `/sessions/${session}`)
  await page.getByRole('log', { name: 'Transcript' }).getByText('The barnacles are gone.').waitFor()
  expect(await page.getByText('Scraping plank 299.').count()).toBe(0)

  await visit(`/search?q=barnacles&to=2020-01-01`)
  await page.getByText('No results').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await hit.waitFor()
  await page.getByRole('button', { name: 'Saved searches' }).click()
  await page.getByRole('menuitem', { name: 'Save this search' }).click()
  await visit('/search')
  await page.getByRole('button', { name: 'Saved searches' }).click()
  await page.getByRole('menuitem', { name: 'barnacles' }).click()
  await hit.waitFor()

  await visit(`/search?q=rudder&in=files&project=${project.id}`)
  await page.getByText('src/rudder.ts:1').waitFor()
  await screenshot(page, 'search-files')
  await expectAccessible(page)
  await visit('/search?q=first&in=commits')
  await page.getByText('A Person').waitFor()
}, 120_000)

test('an index that cannot be opened is said in words, and everything else works', async () => {
  const scene = await aScene({ start: false })
  mkdirSync(scene.fleet.fleet.home.searchFile)
  await scene.fleet.start()
  const { page, visit } = await aPerson(scene.fleet, { expects: /422/ })
  await visit('/search?q=compass')
  await page.getByText('The search index cannot be used').waitFor()
  await page.keyboard.press('Escape')
  await scene.fleet.mission(scene.project, 'echo hull > hull.txt', { title: 'Draw the hull', agent: 'shell' })
  await openPalette(page)
  await page.keyboard.type('hull')
  await page.getByRole('option', { name: /Draw the hull/ }).waitFor()
  rmSync(scene.fleet.fleet.home.searchFile, { recursive: true, force: true })
}, 120_000)

test('search on a phone', async () => {
  const { fleet } = await aPast()
  const { page, visit } = await aPerson(fleet, { size: 'phone', scheme: 'dark' })
  await visit('/search?q=compass')
  await page.getByRole('link', { name: 'Repair the compass' }).waitFor()
  await settled(page)
  await screenshot(page, 'search-phone-dark')
  await expectAccessible(page)
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false)
}, 120_000)
