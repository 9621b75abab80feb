import { expect, test } from 'vitest'
import { aClientThatAsks } from '../kit/asking.ts'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, withBrowser } from './kit.ts'

withBrowser()

test.each(['desktop', 'phone'] as const)(
  'a permission is decided by its buttons and by nothing else: %s',
  async size => {
    const scene = await aScene()
    const agent = await aClientThatAsks(scene)
    const id = await agent.asksLeave({ command: 'rm -rf build' })
    const { page, visit } = await aPerson(scene.fleet, { size })
    await visit('/inbox')
    await page.getByText('Wants to run a command').waitFor()
    await expectAccessible(page)
    const note = page.getByLabel('Add a note (optional)')
    await note.fill("No! Don't run this.")
    for (const keys of ['Control+Enter', 'Meta+Enter', 'Enter', 'Shift+Enter']) await note.press(keys)
    await note.fill("No! Don't run this.")
    await note.blur()
    for (const key of ['j', 'a', 'd', 'a']) await page.keyboard.press(key)
    // The key moves the focus to the button, and does no more.
    await expect.poll(() => page.locator(':focus').innerText()).toMatch(/^Allow/)
    await screenshot(page, `permission-${size}`)
    expect(await agent.stands(id)).toMatchObject({ status: 'open', answer: null })

    await page.getByRole('button', { name: 'Deny' }).click()
    await page.getByText('Nothing needs you').waitFor()
    expect(await agent.stands(id)).toMatchObject({ answer: { decision: 'deny', text: "No! Don't run this." } })

    const other = await agent.asksLeave({ command: 'make test' })
    await visit(`/missions/${agent.id}`)
    await page.getByText('make test').first().waitFor()
    await page.getByLabel('Add a note (optional)').first().press('Control+Enter')
    expect(await agent.stands(other)).toMatchObject({ status: 'open' })
    await page
      .getByRole('button', { name: /^Allow/ })
      .first()
      .click()
    await expect.poll(async () => (await agent.stands(other)).answer).toEqual({ decision: 'allow', text: null })
    agent.open()
  },
)
