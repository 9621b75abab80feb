import { expect, onTestFinished, test } from 'vitest'
import { aRepository } from '../../src/git/testkit.ts'
import { aFleet } from '../kit/fleet.ts'
import { aPerson, expectAccessible, screenshot, settled, withBrowser } from './kit.ts'

withBrowser()

test('from the first visit to the first landed mission, then undone, split, and deleted', async () => {
  const fleet = await aFleet()
  const repo = await aRepository()
  onTestFinished(async () => {
    await fleet.remove()
    await repo.remove()
  })
  await fleet.start()
  const { page, visit } = await aPerson(fleet)

  // Nothing is there yet: the page says what comes first.
  await visit('/missions/new')
  await page.getByText('First, a project').waitFor()
  await page.getByRole('link', { name: 'Add a repository' }).click()
  await page.getByRole('button', { name: 'Add project' }).first().click()
  await page.getByRole('dialog').getByLabel('Path').fill(repo.path)
  await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click()
  await page.getByRole('heading', { level: 1 }).waitFor()

  // What is written stays until it is sent.
  await visit('/missions/new')
  const prompt = page.getByLabel('What is to be done')
  await prompt.fill('echo "Ahoy" > greeting.txt')
  await page.getByLabel('Tags').fill('first, small')
  await page.getByRole('combobox', { name: 'Lands' }).click()
  await page.getByRole('option', { name: /once a person says so/ }).click()
  await settled(page)
  await expectAccessible(page)
  await screenshot(page, 'new-mission-filled-light')
  await page.reload()
  expect(await prompt.inputValue()).toBe('echo "Ahoy" > greeting.txt')
  await page.keyboard.press('Control+Enter')
  await prompt.press('Control+Enter')

  await page.getByRole('heading', { level: 1, name: 'echo "Ahoy" > greeting.txt' }).waitFor()
  const land = page.getByRole('button', { name: 'Land', exact: true })
  await land.waitFor()
  await page.getByText('1 file changed, as git saw it').waitFor()
  await expectAccessible(page)
  await screenshot(page, 'mission-review-light')
  await page.keyboard.press('l')
  await page.getByText('Landed', { exact: true }).first().waitFor()
  expect(await repo.readOn('main', 'greeting.txt')).toBe('Ahoy')

  // Its history, and taking it back.
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByRole('listitem').filter({ hasText: 'landed' }).first().waitFor()
  expect(new URL(page.url()).search).toBe('?tab=history')
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Actions' }).click()
  await page.getByRole('menuitem', { name: 'Undo the landing' }).click()
  await land.waitFor()
  expect(await repo.filesOn('main')).not.toContain('greeting.txt')

  // A part of it, described from its own page; a draft until it is started.
  await page.getByRole('button', { name: 'Actions' }).click()
  await page.getByRole('menuitem', { name: 'New sub-mission' }).click()
  await page.getByText('as a part of').waitFor()
  await prompt.fill('echo part > part.txt')
  await page.getByRole('button', { name: 'Save as draft' }).click()
  await page.getByText('Draft', { exact: true }).first().waitFor()
  await page.getByRole('link', { name: 'Settings', exact: true }).last().click()
  await page.getByLabel('Title').fill('The part')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'The part' }).waitFor()
  await page.getByRole('button', { name: 'Actions' }).click()
  await page.getByRole('menuitem', { name: 'Start…' }).click()
  await page.getByText('Options: agent, model, tools, limits').click()
  await page.getByRole('dialog').getByLabel('Time limit (seconds)').fill('120')
  await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click()
  await page.getByText('Landed', { exact: true }).first().waitFor()
  const { missions } = await fleet.call<{ missions: { title: string; timeout_seconds: number }[] }>('list_missions')
  expect(missions.find(({ title }) => title === 'The part')).toMatchObject({ timeout_seconds: 120 })

  // Deleted after a moment in which it can be taken back.
  await page.getByRole('button', { name: 'Actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByText('Deleted “The part”', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'The part' }).waitFor()
}, 120_000)
