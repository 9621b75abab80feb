import { expect, test } from 'vitest'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, settled, withBrowser } from './kit.ts'

withBrowser()

test('a dialog gives the focus back to what opened it, and its empty choices can be read in the dark', async () => {
  const { fleet, project, repository } = await aScene()
  await fleet.project((await repository()).path, { name: 'other' })
  const { id } = await fleet.call<{ id: string }>('create_mission', {
    ...{ project_id: project.id, title: 'A draft', prompt: 'true' },
  })
  const { page, visit } = await aPerson(fleet, { scheme: 'dark' })
  const closed = async () => {
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  const focused = () => page.evaluate<string>('document.activeElement.textContent')

  await visit('/plans')
  await settled(page)
  await page.getByRole('button', { name: 'New plan' }).first().press('Enter')
  await page.getByRole('dialog').getByText('Choose…').first().waitFor()
  await expectAccessible(page)
  await closed()
  await expect.poll(focused).toContain('New plan')

  // From a menu, which is gone by then: its button.
  await visit(`/missions/${id}`)
  await page.getByRole('button', { name: 'Actions' }).press('Enter')
  await page.getByRole('menuitem', { name: /template/ }).press('Enter')
  await page.getByRole('dialog').waitFor()
  await closed()
  await expect.poll(focused).toContain('Actions')

  for (const [keys, name] of [
    ['?', 'Keyboard shortcuts'],
    ['Control+k', 'Search or run a command'],
  ] as const) {
    await page.keyboard.press(keys)
    await page.getByRole('dialog', { name }).waitFor()
    await closed()
    await expect.poll(focused).toContain('Actions')
  }
}, 120_000)
