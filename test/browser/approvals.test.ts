import { expect, test } from 'vitest'
import { aClientThatAsks } from '../kit/asking.ts'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, settled, withBrowser } from './kit.ts'

withBrowser()

const LOOKS = [
  ['light', 'desktop'],
  ['dark', 'desktop'],
  ['light', 'phone'],
] as const

test('a rule is chosen when answering, listed with its use, and revoked with one click', async () => {
  const scene = await aScene({ project: { name: 'Ship' } })
  const agent = await aClientThatAsks(scene)
  const first = await agent.asksLeave({ command: 'make test', description: 'Runs the tests' })
  const { page, visit } = await aPerson(scene.fleet)
  await visit('/approvals')
  await page.getByText('No approval rules').waitFor()
  await visit('/inbox')
  await page.getByText('Run the command make test', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Always allow in this project' }).click()
  await expect.poll(async () => (await agent.stands(first)).answer?.decision).toBe('allow')
  await page.getByText('make test').first().waitFor({ state: 'detached' })
  const other = await agent.asksLeave({ command: 'make lint' })
  await page.getByRole('button', { name: 'Allow for this session' }).click()
  await expect.poll(async () => (await agent.stands(other)).answer?.decision).toBe('allow')

  await visit('/approvals')
  const always = page.getByRole('row', { name: /make test/ })
  await always.getByText('Always in this project').waitFor()
  await always.getByText('Run a command').waitFor()
  await always.getByRole('link', { name: 'Ship' }).waitFor()
  await always.getByText('Never').waitFor()
  await page
    .getByRole('row', { name: /make lint/ })
    .getByText('One session')
    .waitFor()
  const again = await agent.asksLeave({ command: 'make test' })
  expect((await agent.stands(again)).status).toBe('answered')
  await always.getByText('1 time', { exact: true }).waitFor()
  for (const [scheme, size] of LOOKS) {
    const look = await aPerson(scene.fleet, { scheme, size })
    await look.visit('/approvals')
    await look.page.getByText('make test').waitFor()
    await settled(look.page)
    await screenshot(look.page, `approvals-${scheme}-${size}`)
    await expectAccessible(look.page)
    expect(await look.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  }

  await always.getByRole('button', { name: 'Revoke' }).click()
  await always.waitFor({ state: 'detached' })
  expect((await agent.stands(await agent.asksLeave({ command: 'make test' }))).status).toBe('open')
  agent.open()
})
