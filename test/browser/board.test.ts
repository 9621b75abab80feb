import { expect, test } from 'vitest'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, withBrowser } from './kit.ts'
import { AT_ONCE_MS } from './measure.ts'
import { fillBoard, measureBoard } from './measure-board.ts'

withBrowser()
const MANY = 10_000

test('missions are found, selected and moved: by address, keyboard, in bulk and by dragging', async () => {
  const { fleet, repo, project, repository } = await aScene()
  const other = await fleet.project((await repository()).path, { name: 'harbour' })
  const draft = (title: string, more: object = {}) =>
    fleet.call<{ id: string }>('create_mission', {
      project_id: project.id,
      title,
      detailed_prompt: 'true',
      tags: ['boat'],
      ...more,
    })
  await fleet
    .mission(project, 'echo r > r.txt', { title: 'Ready to land', landing: 'review' })
    .then(({ id }) => fleet.until(id, 'review'))
  // Queued missions stay queued.
  await fleet.call('pause')
  const drafts = [await draft('Draft one'), await draft('Draft two'), await draft('Draft three', { tags: ['sail'] })]
  await draft('Elsewhere', { project_id: other.id })
  const { page, visit } = await aPerson(fleet, { expects: /409/ })
  await visit('/missions')
  const column = (name: string) => page.getByRole('region', { name, exact: true })
  await column('Draft').getByText('Draft one').waitFor()
  await expect.poll(() => column('Draft').locator('.column-count').innerText()).toBe('4')
  await expectAccessible(page)

  // Filters are in the address, and are restored from it.
  await page.getByRole('combobox', { name: 'Filter by projects' }).click()
  await page.getByRole('option', { name: 'harbour' }).click()
  await column('Draft').getByText('Draft one').waitFor({ state: 'detached' })
  await column('Draft').getByText('Elsewhere').waitFor()
  await page.reload()
  await column('Draft').getByText('Elsewhere').waitFor()
  expect(await column('Draft').locator('.column-count').innerText()).toBe('1')
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await column('Draft').getByText('Draft one').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('draft t')
  await column('Draft').getByText('Draft one').waitFor({ state: 'detached' })
  await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('draft t')
  await expect.poll(() => column('Draft').getByRole('listitem').count()).toBe(2)
  await page.getByLabel('Filter by tag').fill('sail')
  await page.keyboard.press('Enter')
  await column('Draft').getByText('Draft two').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Clear filters' }).click()

  // Dragging to a column works, or says why not.
  const card = (title: string) => page.locator('.card', { hasText: title })
  await card('Draft one').dragTo(column('Queued'))
  await column('Queued').getByText('Draft one').waitFor()
  await column('Queued').getByText('the fleet is paused').waitFor()
  await card('Draft two').dragTo(column('Running'))
  await page.getByText('Queued missions start automatically.').first().waitFor()
  expect((await fleet.show(drafts[1]!.id)).status).toBe('draft')
  await card('Draft two').dragTo(column('Queued'))
  await column('Queued').getByText('Draft two').waitFor()
  const order = async () => (await column('Queued').locator('.card-title').allInnerTexts()).join()
  expect(await order()).toBe('Draft one,Draft two')
  await card('Draft two').dragTo(card('Draft one'), { targetPosition: { x: 80, y: 5 } })
  await expect.poll(order).toBe('Draft two,Draft one')
  expect((await fleet.show(drafts[1]!.id)).priority).toBe(1)
  // The same by keyboard.
  await card('Draft two').getByRole('link').focus()
  await page.keyboard.press('m')
  await page.getByRole('menuitem', { name: 'Start later' }).click()
  await expect.poll(order).toBe('Draft one,Draft two')
  await card('Ready to land').dragTo(column('Landing'))
  await column('Done').getByText('Ready to land').waitFor()
  expect(await repo.readOn('main', 'r.txt')).toBe('r')

  // In bulk.
  await card('Draft one').getByRole('link').focus()
  await page.keyboard.press('x')
  await page.keyboard.press('Shift+ArrowDown')
  const bulk = page.getByRole('region', { name: 'Selected missions' })
  await bulk.getByText('2 selected').waitFor()
  await screenshot(page, 'board-selected-light')
  await bulk.getByRole('button', { name: 'Tag…' }).click()
  await page.getByRole('dialog').getByLabel('Tag').fill('soon')
  await page.getByRole('dialog').getByRole('button', { name: 'Tag' }).click()
  await expect.poll(async () => (await fleet.show(drafts[0]!.id)).tags).toEqual(['boat', 'soon'])
  await bulk.getByRole('button', { name: 'Land' }).click()
  await page.getByText('0 landing, 2 refused').first().waitFor()
  await bulk.getByRole('button', { name: 'Delete' }).click()
  await column('Queued').getByText('Draft one').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).last().click()
  await column('Queued').getByText('Draft one').waitFor()
  expect((await fleet.show(drafts[0]!.id)).status).toBe('queued')

  // A list, newest first, used by keyboard.
  await page.getByRole('radio', { name: 'List' }).click()
  await page.getByText('5 missions').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await bulk.getByText('1 selected').waitFor()
  await bulk.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('4 missions').waitFor()
  // Leaving the page is not an undo.
  await page.goto('about:blank')
  const left = async () => (await fleet.call<{ missions: object[] }>('list_missions')).missions.length
  await expect.poll(left, { timeout: 10_000 }).toBe(4)
})

test('with ten thousand missions nothing a person does makes the page wait', { timeout: 180_000 }, async () => {
  const { fleet, project } = await aScene({ start: false })
  await fleet.call('pause')
  await fillBoard(fleet, project, MANY)
  await fleet.start()
  const { page, visit } = await aPerson(fleet)
  const measured = await measureBoard(page, visit, fleet, MANY)
  console.info(measured)
  const slow = Object.entries(measured).filter(([, { busy }]) => busy > AT_ONCE_MS)
  expect(slow, JSON.stringify(measured)).toEqual([])
})
