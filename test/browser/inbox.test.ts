import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../kit/fleet.ts'
import { call } from '../kit/inside.ts'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, withBrowser } from './kit.ts'

withBrowser()

test('everything that waits is decided in one list: answered, landed, sent back, rejected and taken back, tried again', async () => {
  const { fleet, repo, project } = await aScene()
  const heard = join(fleet.root, 'heard')
  const question = 'Which colour?\n- Red: like fire\n- Blue: like the sea'
  const asking = await fleet.mission(project, `${call('ask_human', { question }, heard)}; echo x > asked.txt`, {
    title: 'Paint the boat',
  })
  await fleet.until(asking.id, 'needs_input')
  const toReview = (title: string, script: string) => fleet.mission(project, script, { title, landing: 'review' })
  const first = await toReview('First to review', 'echo one > one.txt')
  await fleet.until(first.id, 'review')
  const second = await toReview(
    'Second to review',
    'if [ "$FLEET_REASON" = first ]; then echo two > two.txt; else cp "$FLEET_PROMPT_FILE" told.txt; fi',
  )
  await fleet.until(second.id, 'review')
  const broken = await fleet.mission(project, `[ -e ${join(fleet.root, 'mended')} ]; echo $?; exit 3`, {
    title: 'Broken one',
  })
  await fleet.until(broken.id, 'failed')

  const { page, visit } = await aPerson(fleet)
  await visit('/inbox')
  // What failed is news: listed, and not counted.
  await page.getByText('3 things wait for you').waitFor()
  await expectAccessible(page)
  await screenshot(page, 'inbox-question-light')

  // The question, with what it offers to choose from.
  await page.getByText('Which colour?').waitFor()
  await page.getByRole('button', { name: /Blue/ }).click()
  await page.getByText('2 things wait for you').waitFor()
  await eventually('the agent hears it', () => readFileSync(heard, 'utf8').includes('Blue') || undefined)
  await fleet.until(asking.id, 'done')

  // By keyboard: the first is landed …
  await page.keyboard.press('j')
  await expect.poll(() => page.locator('.inbox [data-active]').innerText()).toContain('First to review')
  await page.keyboard.press('a')
  await page.getByText('1 thing waits for you').waitFor()
  await fleet.until(first.id, 'done')
  expect(await repo.readOn('main', 'one.txt')).toBe('one')
  // … the next has taken its place, is rejected, and that taken back.
  await expect.poll(() => page.locator('.inbox [data-active]').innerText()).toContain('Second to review')
  await page.keyboard.press('d')
  await page.getByText('0 things wait for you').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('1 thing waits for you').waitFor()

  await page.getByRole('button', { name: 'Send back…' }).click()
  await page.getByRole('dialog').getByLabel('Words').fill('Say it louder.')
  await page.getByRole('dialog').getByRole('button', { name: 'Send back' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await fleet.until(second.id, 'review')
  const told = await repo.git('show', `${(await fleet.show(second.id)).branch}:told.txt`)
  expect(told).toContain('Say it louder.')

  // Only one kind, in the address.
  await page.getByRole('button', { name: /Failures/ }).click()
  await expect.poll(() => new URL(page.url()).search).toBe('?kind=failure')
  await page.reload()
  await page.getByText('Broken one').waitFor()
  expect(await page.getByText('Second to review').count()).toBe(0)
  await page.getByRole('button', { name: 'Retry' }).click()
  await eventually('it is tried again', async () => (await fleet.show(broken.id)).sessions.length === 2 || undefined)
})
