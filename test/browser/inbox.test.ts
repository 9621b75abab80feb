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
  // Failures are listed, but not counted.
  await page.getByText('3 items need you').waitFor()
  await expectAccessible(page)
  await screenshot(page, 'inbox-question-light')

  // The question with its choices.
  await page.getByText('Which colour?').waitFor()
  await page.getByRole('button', { name: /Blue/ }).click()
  await page.getByText('2 items need you').waitFor()
  await eventually('the agent hears it', () => readFileSync(heard, 'utf8').includes('Blue') || undefined)
  await fleet.until(asking.id, 'done')

  // The answered question stays in its place, but can no longer be used.
  const cards = page.locator('.inbox > li')
  await expect.poll(() => cards.first().innerText()).toContain('Resolved')

  // By keyboard: the first is opened before it is landed …
  const chosen = page.locator('.inbox [data-active]')
  await page.keyboard.press('j')
  await expect.poll(() => chosen.innerText()).toContain('First to review')
  await page.keyboard.press('a')
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/review/${first.id}`)
  await page.locator('.inbox').waitFor({ state: 'detached' })
  expect((await fleet.show(first.id)).status).toBe('review')
  await page.goBack()
  await page.getByText('2 items need you').waitFor()
  // … and its button lands it with an undo, as the review does.
  await cards.filter({ hasText: 'First to review' }).getByRole('button', { name: 'Land' }).click()
  await page.getByText('1 item needs you').waitFor()
  await fleet.until(first.id, 'done')
  expect(await repo.readOn('main', 'one.txt')).toBe('one')
  await page.getByText('Landed “First to review”', { exact: true }).waitFor()
  await page.keyboard.press('u')
  await page.getByText('2 items need you').waitFor()
  expect((await fleet.show(first.id)).status_reason?.code).toBe('undone')

  // The next one is rejected, and that is undone.
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await expect.poll(() => chosen.innerText()).toContain('Second to review')
  await page.keyboard.press('d')
  await page.getByText('1 item needs you').waitFor()
  await expect.poll(() => chosen.innerText()).toContain('Resolved')
  await page.keyboard.press('u')
  await page.getByText('2 items need you').waitFor()

  await chosen.getByRole('button', { name: 'Request changes…' }).click()
  await page.getByRole('dialog').getByLabel('Message').fill('Say it louder.')
  await page.getByRole('dialog').getByRole('button', { name: 'Request changes' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await fleet.until(second.id, 'review')
  const told = await repo.git('show', `${(await fleet.show(second.id)).branch}:told.txt`)
  expect(told).toContain('Say it louder.')

  // Filter by kind, in the address.
  await page.getByRole('button', { name: /Failures/ }).click()
  await expect.poll(() => new URL(page.url()).search).toBe('?kind=failure')
  await page.reload()
  await page.getByText('Broken one').waitFor()
  expect(await page.getByText('Second to review').count()).toBe(0)
  await page.getByRole('button', { name: 'Retry' }).click()
  await eventually('it is tried again', async () => (await fleet.show(broken.id)).sessions.length === 2 || undefined)
})

test('cards stay where they are while others come and go, and keys hit the card that is chosen', async () => {
  const { fleet, project } = await aScene()
  const toReview = async (title: string) => {
    const mission = await fleet.mission(project, `echo x > "${title}.txt"`, { title, landing: 'review' })
    await fleet.until(mission.id, 'review')
    return mission
  }
  const one = await toReview('one')
  const two = await toReview('two')
  const { page, visit } = await aPerson(fleet)
  await visit('/inbox')
  await page.getByText('2 items need you').waitFor()
  const titles = () => page.locator('.inbox .waiting-title').allInnerTexts()
  const placeOf = (title: string) => page.locator('.inbox > li', { hasText: title }).boundingBox()
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await expect.poll(() => page.locator('.inbox [data-active]').innerText()).toContain('two')
  await page.getByText('1 file · +1').nth(1).waitFor()
  const before = await placeOf('two')

  // A failure, then a review, which sorts before it. An older one is decided elsewhere.
  await fleet.call('create_mission', {
    ...{ project_id: project.id, title: 'stuck', detailed_prompt: 'exit 1', max_retries: 0, auto_dispatch: true },
  })
  await page.locator('.inbox .waiting-title', { hasText: 'stuck' }).waitFor()
  const third = await toReview('three')
  await page.locator('.inbox .waiting-title', { hasText: 'three' }).waitFor()
  await fleet.call('reject_mission', { mission_id: one.id })
  await page.getByText('Resolved').waitFor()
  expect(await titles()).toEqual(['one', 'two', 'stuck', 'three'])
  expect(await placeOf('two')).toEqual(before)
  expect(await page.locator('.inbox [data-active]').innerText()).toContain('two')
  await expectAccessible(page)
  await screenshot(page, 'inbox-steady-light')

  // The key applies to the selected card.
  await page.keyboard.press('d')
  await fleet.until(two.id, 'cancelled')
  expect((await fleet.show(third.id)).status).toBe('review')
  await expect.poll(() => page.getByText('Resolved').count()).toBe(2)

  await page.getByRole('button', { name: 'Re-sort' }).click()
  await expect.poll(titles).toEqual(['three', 'stuck'])
})
