import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, type Person, screenshot, settled, withBrowser } from './kit.ts'

withBrowser()

const field = ({ page }: Person, name: string) => page.getByRole('textbox', { name, exact: true })
const said = ({ page }: Person, text: string | RegExp) => page.getByText(text, { exact: true }).first().waitFor()

test('settings are filled in with units, saved once, and reset', async () => {
  const { fleet } = await aScene()
  const person = await aPerson(fleet)
  const { page, visit } = person
  const saves: string[] = []
  page.on('request', request => request.method() === 'PUT' && saves.push(request.postData() ?? ''))
  await visit('/settings')
  await field(person, 'Time limit').fill('90')
  await page.getByRole('combobox', { name: 'Unit of Time limit' }).click()
  await page.getByRole('option', { name: 'min', exact: true }).click()
  await field(person, 'Transcript limit').fill('1.5')
  await page.getByRole('combobox', { name: 'Unit of Transcript limit' }).click()
  await page.getByRole('option', { name: 'GB', exact: true }).click()
  await page.getByRole('combobox', { name: 'When an agent is stuck' }).click()
  await page.getByRole('option', { name: 'Send it a message' }).click()
  await field(person, 'Claude Code').fill('2')
  await field(person, 'Allowed folders').fill(`${fleet.root}\n/srv/code\n`)
  await field(person, 'Allowed folders').blur()
  await field(person, 'Time limit').press('Enter')
  await said(person, 'Saved 5 settings.')
  await page.getByText('Unsaved changes').waitFor({ state: 'detached' })
  // A second save of the first would be sent before this one.
  await field(person, 'Retries').fill('3')
  await field(person, 'Retries').press('Enter')
  await said(person, 'Saved 1 setting.')
  expect(saves).toHaveLength(2)
  const file = () => readFileSync(join(fleet.root, 'home', 'fleet.toml'), 'utf8')
  expect(file()).toContain('default_timeout = 5400\n')
  expect(file()).toContain('transcript_limit = 1500000000\n')
  expect(file()).toContain('stall_policy = "nudge"\n')
  expect(file()).toContain(`allowed_repos = ["${fleet.root}", "/srv/code"]\n`)
  expect(file()).toContain('claude = 2')
  await page.reload()
  expect(await field(person, 'Time limit').inputValue()).toBe('90')
  await page.getByRole('button', { name: 'Reset Time limit' }).click()
  await page.getByRole('button', { name: 'Reset Time limit' }).waitFor({ state: 'detached' })
  expect(file()).not.toContain('default_timeout')
})

test('what is wrong is said beside the field, and nothing is saved', async () => {
  const { fleet } = await aScene()
  const person = await aPerson(fleet, { expects: /400/ })
  const { page, visit } = person
  await visit('/settings')
  await field(person, 'Retries').fill('11')
  await said(person, 'Must be a whole number from 0 to 10.')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.locator('[aria-invalid]:focus').waitFor()
  await page.getByRole('button', { name: 'Discard' }).click()
  // Only the server knows this one.
  await field(person, 'Daily budget').fill('0')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await said(person, 'The daily budget must be above $0 per day.')
  await expectAccessible(page)
  // The tests set this in the environment of the server.
  expect(await field(person, 'Time to stop').isDisabled()).toBe(true)
  await said(person, 'Set by the environment variable FLEET_STOP_GRACE of the server. Change it there.')
})

test.each([
  ['light', 'desktop'],
  ['dark', 'desktop'],
  ['light', 'phone'],
] as const)('the settings are accessible in %s on a %s', async (scheme, size) => {
  const { fleet } = await aScene()
  const { page, visit } = await aPerson(fleet, { scheme, size })
  await visit('/settings')
  await settled(page)
  await page.getByRole('textbox', { name: 'Retries' }).fill('2')
  await page.getByText('Unsaved changes').waitFor()
  await screenshot(page, `settings-${scheme}-${size}`)
  await expectAccessible(page)
})
