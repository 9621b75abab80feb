import { expect, test } from 'vitest'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, settled, withBrowser } from './kit.ts'

withBrowser()

test('the board fits its columns at 1440, folds them, filters by date, and saves the view', async () => {
  const { fleet, project } = await aScene({ env: { FLEET_MAX_CONCURRENT: '1' } })
  const { page, visit } = await aPerson(fleet)
  await page.setViewportSize({ width: 1440, height: 900 })
  await visit('/missions')
  // Nothing yet: the page says what a board is for.
  await page.getByText('No missions yet').waitFor()
  await expectAccessible(page)
  await screenshot(page, 'board-empty-light')

  const make = (title: string, script: string, more = {}) => fleet.mission(project, script, { title, ...more })
  await fleet.until((await make('Landed one', 'echo a > a.txt', { landing: 'auto' })).id, 'done')
  await fleet.until((await make('To review', 'echo b > b.txt', { landing: 'review' })).id, 'review')
  await fleet.until((await make('Broken one', 'echo why; exit 3')).id, 'failed')
  const gone = await make('Unwanted', 'echo c > c.txt', { landing: 'review' })
  await fleet.until(gone.id, 'review')
  await fleet.call('reject_mission', { mission_id: gone.id })
  await make('At work', 'sleep 300')
  await make('First in line', 'echo d')
  await make('Second in line', 'echo e')
  const draft = { title: 'Just an idea', detailed_prompt: 'Think.', agent: 'claude' }
  await fleet.call('create_mission', { project_id: project.id, ...draft })

  const column = (name: string) => page.getByRole('region', { name, exact: true })
  await column('Running').getByText('At work').waitFor()
  await column('Queued').getByText('Second in line').waitFor()
  await settled(page)
  await expectAccessible(page)
  await screenshot(page, 'board-1440-light')
  // Every column is in view without scrolling.
  const { x, width } = (await column('Cancelled').boundingBox())!
  expect(x + width).toBeLessThanOrEqual(1440)
  // The status is said by the column, and once.
  expect(await column('Review').locator('.card').innerText()).not.toContain('Review')
  expect(await column('Failed').locator('.card').innerText()).toContain('Exited with code 3')

  // The queue by keyboard.
  const order = async () => (await column('Queued').locator('.card-title').allInnerTexts()).join()
  expect(await order()).toBe('First in line,Second in line')
  await column('Queued').getByRole('link', { name: 'Second in line' }).focus()
  await page.keyboard.press('[')
  await expect.poll(order).toBe('Second in line,First in line')

  // Folded columns stay folded.
  await column('Cancelled').getByRole('button', { name: 'Cancelled' }).click()
  await page.reload()
  await column('Running').getByText('At work').waitFor()
  expect(await column('Cancelled').getByText('Unwanted').isVisible()).toBe(false)
  await column('Cancelled').getByRole('button', { name: 'Cancelled' }).click()
  await column('Cancelled').getByText('Unwanted').waitFor()

  // A date and a state, saved under a name.
  await page.getByRole('combobox', { name: 'Filter by time' }).click()
  await page.getByRole('option', { name: 'Last 7 days' }).click()
  await column('Review').getByText('To review').waitFor()
  await page.getByRole('combobox', { name: 'Filter by states' }).click()
  await page.getByRole('option', { name: 'Failed' }).click()
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('menuitem', { name: 'Save this view…' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Broken this week')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Broken this week' }).waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await column('Review').getByText('To review').waitFor()
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('menuitem', { name: 'Broken this week' }).click()
  await expect.poll(() => new URL(page.url()).search).toBe('?since=7&state=failed')
  await column('Failed').getByText('Broken one').waitFor()
  await page.getByRole('button', { name: 'Broken this week' }).click()
  await page.getByRole('menuitem', { name: 'Delete this view' }).click()
  await expect.poll(() => fleet.call('list_board_views')).toEqual({ views: [] })
}, 120_000)
