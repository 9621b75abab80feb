import type { Page } from 'playwright-core'
import { MISSION_COUNTS } from '../../src/domain/records/fleet.ts'
import { Mission, type Status } from '../../src/domain/records/mission.ts'
import { put } from '../../src/fleet/records.ts'
import { type Change, MAX_COMMIT_ITEMS } from '../../src/store/index.ts'
import type { TestFleet } from '../kit/fleet.ts'
import { type Measured, unresponsive } from './measure.ts'

/** Of a hundred missions most are over, as after a year. */
const SHARES: [Status, number][] = [
  ['done', 70],
  ['draft', 15],
  ['failed', 5],
  ['cancelled', 5],
  ['review', 4],
  ['queued', 1],
]
const STATUS_OF = SHARES.flatMap(([status, share]) => Array.from({ length: share }, () => status))
const FIRST = Date.parse('2026-01-01T00:00:00Z')
const OVER: readonly Status[] = ['done', 'failed', 'cancelled']

/** Puts this many missions into the store, as if one had been made every minute. The fleet must be paused. */
export async function fillBoard(fleet: TestFleet, project: { id: string }, count: number): Promise<void> {
  const { store } = fleet.fleet
  const counts: Record<string, number> = {}
  let changes: Change[] = []
  for (let i = 0; i < count; i++) {
    const status = STATUS_OF[i % STATUS_OF.length]!
    const at = new Date(FIRST + i * 60_000).toISOString()
    counts[status] = (counts[status] ?? 0) + 1
    const mission = Mission.parse({
      id: `m${String(i).padStart(11, '0')}`,
      project_id: project.id,
      title: `Mission number ${i} of those that fill the board`,
      prompt: { inline: `Do what number ${i} says, and nothing else.` },
      status,
      tags: i % 3 ? [] : ['third'],
      created_at: at,
      updated_at: at,
      queued_at: status === 'queued' ? at : null,
      ended_at: OVER.includes(status) ? at : null,
      result: status === 'done' ? 'no_changes' : null,
    })
    changes.push(put('missions', mission, 'absent'))
    if (changes.length === MAX_COMMIT_ITEMS) changes = await commit(changes)
  }
  await commit(changes)
  const cursor = await store.tail()
  const folded = { id: MISSION_COUNTS, cursor, counts, projects: { [project.id]: counts }, totals: null } as const
  const before = await store.get('counts', MISSION_COUNTS)
  await store.commit({ changes: [put('counts', folded, before?.version ?? 'absent')] })

  async function commit(batch: Change[]): Promise<Change[]> {
    if (batch.length) await store.commit({ changes: batch })
    return []
  }
}

/** How long the board and the fully loaded list did not respond while a person used them. */
export async function measureBoard(
  page: Page,
  visit: (path: string) => Promise<void>,
  fleet: TestFleet,
  count: number,
): Promise<Record<string, Measured>> {
  const measured: Record<string, Measured> = {}
  const measure = async (what: string, act: () => Promise<unknown>) => {
    measured[what] = await unresponsive(page, act)
  }
  const newest = async (status: Status) => {
    const { missions } = await fleet.call<{ missions: { id: string }[] }>('list_missions', { status, limit: 1 })
    return missions[0]!.id
  }
  /** Something changes elsewhere, and the page shows it. */
  const happens = async (title: string) => {
    await fleet.call('update_mission', { mission_id: await newest('draft'), title })
    await page.getByText(title).first().waitFor()
  }

  await visit('/missions')
  const done = page.getByRole('region', { name: 'Done', exact: true })
  await done.locator('.card').first().waitFor()
  await measure('board: scrolling a column', () => wheel(done.locator('.column-scroll'), 900, 6))
  await measure('board: selecting', () => page.locator('.card input').first().click())
  await measure('board: going by key', async () => {
    for (let key = 0; key < 10; key++) await page.keyboard.press('j')
  })
  await measure('board: an event', () => happens('Told of on the board'))

  await visit('/missions?view=list')
  const rows = page.locator('.list-scroll')
  await page.locator('.row').first().waitFor()
  await measure('list: reading all', async () => {
    while ((await page.locator('.list-count').innerText()).endsWith('so far')) {
      await rows.evaluate(element => element.scrollTo(0, element.scrollHeight))
      await page.waitForTimeout(20)
    }
  })
  const all = await page.locator('.list-count').innerText()
  if (all !== `${count} missions`) throw new Error(`The list shows ${all} of ${count}.`)
  // The list is at its end.
  await measure('list: scrolling', () => wheel(rows, -1200, 12))
  await rows.evaluate(element => element.scrollTo(0, 0))
  await measure('list: selecting', () => page.locator('.row input').first().click())
  await measure('list: selecting all', () => page.getByLabel('Select all loaded missions').click())
  await measure('list: selecting none', () => page.keyboard.press('Escape'))
  await measure('list: an event', () => happens('Told of in the list'))
  await measure('list: a keystroke in the filter', async () => {
    await page.keyboard.press('/')
    await page.keyboard.type('number 99')
  })
  await measure('list: the answer to it', async () => {
    await page.waitForURL(/q=number/)
    await page.locator('.row', { hasText: 'number 99' }).first().waitFor()
  })
  return measured

  async function wheel(over: ReturnType<Page['locator']>, pixels: number, turns: number): Promise<void> {
    await over.hover()
    for (let turn = 0; turn < turns; turn++) await page.mouse.wheel(0, pixels)
  }
}
