import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { aClientThatAsks } from '../kit/asking.ts'
import { eventually, ROOT } from '../kit/fleet.ts'
import { aPlanner, planOf } from '../kit/planner.ts'
import { aScene, type Scene, type SceneOptions } from '../kit/scene.ts'
import { aPerson, settled, withBrowser } from './kit.ts'

withBrowser()

/**
 * How many acts a new user needs for each task, from Home. A click, a chord or a filled field is one act. The first five
 * are what the product promises and never grow; the others are what is needed today.
 */
const MOST = {
  create: 2,
  watch: 1,
  allow: 1,
  land: 1,
  'find an old mission': 3,
  answer: 2,
  'review with comments': 6,
  conflict: 4,
  undo: 3,
  compare: 2,
  plan: 3,
  schedule: 4,
  'cost check': 1,
}
type Task = keyof typeof MOST

const seen = new Map<Task, string[]>()

/** Does one task at a time, and counts. */
class Hands {
  readonly page: Page
  #acts: string[] = []

  constructor(page: Page) {
    this.page = page
  }

  async click(what: Locator, name: string): Promise<void> {
    await what.click()
    this.#acts.push(name)
  }

  async fill(what: Locator, text: string, name: string): Promise<void> {
    await what.fill(text)
    this.#acts.push(name)
  }

  async press(keys: string): Promise<void> {
    await this.page.keyboard.press(keys)
    this.#acts.push(keys)
  }

  done(task: Task): void {
    seen.set(task, this.#acts)
    this.#acts = []
    expect(seen.get(task)!.length, `${task}: ${seen.get(task)!.join(', ')}`).toBeLessThanOrEqual(MOST[task])
  }

  async home(): Promise<void> {
    await this.page.getByRole('link', { name: 'Home' }).click()
    await settled(this.page)
  }
}

afterAll(() => {
  const rows = [...seen].map(([task, acts]) => `| ${task} | ${acts.length} | ${MOST[task]} | ${acts.join(', ')} |`)
  const table = ['| task | acts | at most | what was done |', '| --- | --- | --- | --- |', ...rows].join('\n')
  mkdirSync(join(ROOT, 'test/results'), { recursive: true })
  writeFileSync(join(ROOT, 'test/results/tasks.md'), `${table}\n`)
  process.stdout.write(`\n${table}\n`)
})

/** A fleet whose project has an agent that writes a file, as a new user with a coding agent has it. */
async function aDay(options: SceneOptions = {}) {
  const scene = await aScene({ ...options, project: { name: 'Ship', landing: 'review', ...options.project } })
  const planner = aPlanner(scene.fleet)
  planner.says(planOf({ key: 'a', script: 'Write a into a.txt.', agent: 'planner' }))
  await scene.fleet.call('update_project', { project_id: scene.project.id, agent: 'planner' })
  const { page } = await aPerson(scene.fleet, { expects: /409/ })
  await page.getByRole('heading', { name: 'Running', exact: false }).waitFor()
  return { ...scene, planner, hands: new Hands(page), page }
}

const script = ({ fleet, project }: Scene, text: string, settings: object = {}) =>
  fleet.mission(project, text, { agent: 'shell', landing: 'review', ...settings })

test('create and watch a mission, then land it and undo that', async () => {
  const { hands, page, planner, fleet, gate, repo } = await aDay()
  const hold = gate('work')
  planner.first(`[ "$*" = --look ] || { echo I sweep; ${hold.wait}; echo clean > deck.txt; }`)
  planner.says('Swept.')
  await hands.fill(page.getByRole('textbox', { name: 'Task' }), 'Sweep the deck', 'describe the task')
  await eventually('Home knows the agents', () => page.getByRole('button', { name: 'Run', exact: true }).isEnabled())
  await hands.press('Control+Enter')
  const row = page.getByRole('listitem').filter({ hasText: 'Sweep the deck' })
  await row.waitFor()
  hands.done('create')

  await hands.click(row.getByRole('link', { name: 'Sweep the deck' }), 'the running mission')
  await page.getByText('I sweep').first().waitFor()
  hands.done('watch')

  hold.open()
  const { missions } = await fleet.call<{ missions: { id: string }[] }>('list_missions')
  await fleet.until(missions[0]!.id, 'review')
  await hands.home()
  await hands.click(page.getByRole('button', { name: 'Land', exact: true }), 'Land')
  await page.getByRole('heading', { name: 'Landed today (1)' }).waitFor()
  expect(await repo.readOn('main', 'deck.txt')).toBe('clean')
  hands.done('land')

  await hands.click(page.locator('.landed').getByRole('link', { name: 'Sweep the deck' }), 'the landed mission')
  await hands.click(page.getByRole('button', { name: 'Actions' }), 'Actions')
  await hands.click(page.getByRole('menuitem', { name: 'Undo landing' }), 'Undo landing')
  await page.getByRole('button', { name: 'Land', exact: true }).waitFor()
  expect(await repo.filesOn('main')).not.toContain('deck.txt')
  hands.done('undo')
})

test('allow a command, and answer a question', async () => {
  const day = await aDay()
  const { hands, page } = day
  const agent = await aClientThatAsks(day, { agent: 'shell' })
  const permission = await agent.asksLeave({ command: 'make test' })
  await hands.click(page.getByRole('button', { name: 'Allow once' }), 'Allow once')
  await expect.poll(async () => (await agent.stands(permission)).answer).toMatchObject({ decision: 'allow' })
  hands.done('allow')

  const question = await agent.asksWords('Which colour?')
  await page.getByText('Which colour?').waitFor()
  await hands.fill(page.getByLabel('Your answer'), 'Blue', 'type the answer')
  await hands.press('Control+Enter')
  await expect.poll(async () => (await agent.stands(question)).answer).toMatchObject({ text: 'Blue' })
  hands.done('answer')
  agent.open()
})

test('review with a comment, and compare two missions', async () => {
  const day = await aDay({ repository: { files: { 'line.txt': 'original\n' } } })
  const { hands, page, fleet } = day
  const { id } = await script(day, 'echo red > line.txt', { title: 'Paint it red' })
  await fleet.until(id, 'review')
  await hands.click(page.locator('.waiting').getByRole('link', { name: 'Paint it red' }), 'the mission')
  await hands.click(page.getByRole('button', { name: 'Comment on line 1', exact: true }), 'the line')
  await hands.fill(page.getByRole('textbox', { name: /^Comment on/ }), 'A darker red, please.', 'the comment')
  await hands.press('Control+Enter')
  await page.getByText('Pending', { exact: true }).waitFor()
  await hands.click(page.getByRole('button', { name: /^Request changes/ }), 'Request changes')
  await hands.click(page.getByRole('dialog').getByRole('button', { name: /^Request changes/ }), 'confirm')
  await eventually('the agent went back', async () => (await fleet.show(id)).sessions.length > 1)
  hands.done('review with comments')
  await fleet.until(id, 'review')

  const other = await script(day, 'echo blue > line.txt', { title: 'Paint it blue' })
  await fleet.until(other.id, 'review')
  await hands.home()
  await hands.click(page.getByRole('link', { name: 'Review', exact: false }).first(), 'Review')
  await hands.click(page.getByRole('link', { name: /^Compare with/ }).first(), 'Compare with …')
  await page.getByText(/Difference between the two/).waitFor()
  hands.done('compare')
})

test('resolve a conflict', async () => {
  const day = await aDay({ repository: { files: { 'line.txt': 'original\n' } } })
  const { hands, page, fleet, repo } = day
  const { id } = await script(day, 'case "$FLEET_REASON" in conflict) echo no;; *) echo red > line.txt;; esac', {
    title: 'Paint it red',
  })
  await fleet.until(id, 'review')
  await repo.commit('theirs', { 'line.txt': 'blue\n' })
  await fleet.land(id)
  await eventually('it is in conflict', async () => {
    const { status, status_reason } = await fleet.show(id)
    return status === 'review' && status_reason?.code === 'conflict'
  })
  const card = page.locator('.waiting').filter({ hasText: 'Conflict' })
  await hands.click(card.getByRole('link', { name: 'Paint it red' }), 'the conflict')
  await hands.click(page.getByRole('button', { name: 'Use both' }), 'Use both')
  await hands.click(page.getByRole('button', { name: /^Resolve \(/ }), 'Resolve')
  await page.locator('.toast').getByText('Conflict resolved.').waitFor()
  const { candidate } = await fleet.show(id)
  await page.getByText(candidate!.commit.slice(0, 12)).waitFor()
  await hands.click(page.getByRole('button', { name: 'Land l', exact: true }), 'Land')
  await fleet.until(id, 'done')
  expect(await repo.readOn('main', 'line.txt')).toMatch(/blue\s+red/)
  hands.done('conflict')
})

test('find an old mission, check the cost, plan and schedule', async () => {
  const day = await aDay()
  const { hands, page, fleet, planner, project } = day
  planner.first('[ "$*" = --look ] || date +%N > log.txt')
  const { id } = await fleet.mission(project, 'Look at every plank.', { title: 'Inspect the hull', landing: 'auto' })
  await fleet.until(id, 'done')
  await eventually('the search index', () => fleet.call('search', { text: 'inspect' }).catch(() => undefined))
  await page.locator('body').click({ position: { x: 2, y: 2 } })
  await hands.press('Control+k')
  await hands.fill(page.getByPlaceholder(/^Find a mission/), 'inspect', 'type words')
  await page
    .getByRole('option', { name: /Inspect the hull/ })
    .first()
    .waitFor()
  await hands.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Inspect the hull' }).waitFor()
  hands.done('find an old mission')

  await hands.home()
  await hands.click(page.getByRole('link', { name: 'Costs' }).first(), 'Costs')
  await page.getByText('Forecast for today').waitFor()
  hands.done('cost check')

  await hands.home()
  const box = page.getByRole('textbox', { name: 'Task' })
  await hands.fill(box, 'A harbour for many boats', 'describe the goal')
  await hands.click(page.getByRole('button', { name: 'Plan', exact: true }), 'Plan')
  await hands.click(page.getByRole('button', { name: 'Approve' }), 'Approve')
  await page.getByRole('region', { name: 'Missions of the plan' }).waitFor()
  await eventually('the mission of the plan', async () => {
    const { missions } = await fleet.call<{ missions: { title: string }[] }>('list_missions')
    return missions.some(({ title }) => title === 'make a')
  })
  hands.done('plan')

  await hands.home()
  await hands.fill(box, 'Update the dependencies', 'describe the task')
  await hands.click(page.getByRole('combobox', { name: 'Schedule' }), 'the schedule')
  await hands.click(page.getByRole('option', { name: 'Every day at 7:00' }), 'Every day at 7:00')
  await hands.press('Control+Enter')
  await eventually('the schedule', async () => {
    const { schedules } = await fleet.call<{ schedules: object[] }>('list_schedules')
    return schedules.length === 1
  })
  hands.done('schedule')
})
