import { expect, test } from 'vitest'
import type { LoopView } from '../../src/operations/loops.ts'
import { eventually } from '../kit/fleet.ts'
import { aPlanner, COMPLETE, planOf } from '../kit/planner.ts'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, settled, withBrowser } from './kit.ts'

withBrowser()

test('a loop shows what each round planned, what became of it and what it cost, and why it ended', {
  timeout: 120_000,
}, async () => {
  const { fleet, project } = await aScene({
    project: { name: 'Ship', checks: [{ name: 'afloat', command: 'echo looking; test -e mast.txt' }] },
  })
  await fleet.call('update_project', {
    project_id: project.id,
    checks: [{ name: 'afloat', command: 'echo looking; test ! -e hull.txt || test -e mast.txt' }],
  })
  const planner = aPlanner(fleet)
  planner.says(
    planOf({ key: 'mast', script: 'echo mast > mast.txt' }, { key: 'crow', script: 'echo no crow >&2; exit 3' }),
    COMPLETE,
  )
  const goal = 'A boat that floats\nIt has a mast and a hull.'
  const { id } = await fleet.call<LoopView>('start_loop', {
    ...{ project_id: project.id, goal, agent: 'planner', scripts: true, max_budget_usd: 2 },
  })
  const { page, visit } = await aPerson(fleet)
  await visit('/loops')
  await page.getByRole('link', { name: /A boat that floats/ }).click()
  await page.getByRole('heading', { level: 1, name: 'A boat that floats' }).waitFor()
  await eventually('the end of the loop', async () => {
    const loop = await fleet.call<LoopView>('get_loop', { project_id: project.id })
    return loop.ended_at ?? undefined
  })
  await page.getByText('Goal reached', { exact: true }).first().waitFor()
  await page
    .getByText(/Its checks pass on/)
    .first()
    .waitFor()
  await page.getByText('$0.50 of $2.00').waitFor()
  await page.getByText('2 of 10').waitFor()
  await page.getByText('It has a mast and a hull.').waitFor()

  await visit(`/loops/${id}?round=1`)
  const missions = page.getByRole('list', { name: 'Missions of the round' })
  const row = (title: string) => missions.getByRole('listitem').filter({ hasText: title })
  await row('make mast').getByText('Landed').waitFor()
  await row('make crow').getByText('Failed').waitFor()
  await row('make crow')
    .getByText(/no crow/)
    .waitFor()
  await page.getByText('Round 2', { exact: true }).click()
  await page.getByText('Checks on the base branch').waitFor()
  await page.getByText('I looked: every file is there.').first().waitFor()
  await expectAccessible(page)
  await row('make mast').getByRole('link', { name: 'make mast' }).click()
  await page.getByRole('heading', { level: 1, name: 'make mast' }).waitFor()

  for (const look of [{ scheme: 'light' }, { scheme: 'dark' }, { size: 'phone' }] as const) {
    const other = await aPerson(fleet, look)
    await other.visit(`/loops/${id}?round=1`)
    await other.page.getByRole('list', { name: 'Missions of the round' }).waitFor()
    await settled(other.page)
    await screenshot(other.page, `loop-${Object.values(look)[0]}`)
    await expectAccessible(other.page)
    expect(await other.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  }
})
