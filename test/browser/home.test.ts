import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { aRepository } from '../../src/git/testkit.ts'
import { aFleet } from '../kit/fleet.ts'
import { aPlanner, planOf } from '../kit/planner.ts'
import { aPerson, withBrowser } from './kit.ts'

withBrowser()

test('from the first visit to the first landed mission, and from a goal to a plan', async () => {
  const repo = await aRepository()
  const fleet = await aFleet()
  onTestFinished(async () => {
    await fleet.remove()
    await repo.remove()
  })
  const planner = aPlanner(fleet)
  planner.first('[ "$*" = --look ] || echo a > a.txt')
  planner.says(planOf({ key: 'a', script: 'Write a into a.txt.', agent: 'planner' }))
  await fleet.start({ env: { FLEET_LANDING: 'auto' } })
  const { page } = await aPerson(fleet, { expects: /404|400|409/ })

  await page.getByRole('heading', { name: 'Choose a repository' }).waitFor()
  await page.getByRole('tab', { name: 'Path' }).click()
  const path = page.getByRole('textbox', { name: /Path on the machine/ })
  await path.fill('/nowhere/at/all')
  await page.getByRole('button', { name: 'Add project' }).click()
  await page.locator('.toast[data-tone="bad"]').waitFor()
  await path.fill(`${repo.path}/`)
  await page.getByRole('button', { name: 'Add project' }).click()

  await page.getByRole('combobox', { name: 'Agent' }).click()
  await page.getByRole('option', { name: 'Run a script (shell)' }).click()
  const box = page.getByRole('textbox', { name: /^(Script|Task)$/ })
  const go = join(fleet.root, 'go')
  await box.fill(`until [ -e '${go}' ]; do sleep 0.05; done; echo hello, whoever reads this, > hello.txt`)
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByRole('heading', { name: 'Running (1)' }).waitFor()
  expect(await box.inputValue()).toBe('')

  const { missions } = await fleet.call<{ missions: { id: string; title: string }[] }>('list_missions')
  expect(missions[0]!.title).toMatch(/^until .*…$/)
  writeFileSync(go, '')

  await page.getByRole('heading', { name: 'Landed today (1)' }).waitFor()
  await page.getByText('No agents are running.').waitFor()
  await expect.poll(() => page.title()).toBe('Home · Flotilla')
  expect(await repo.readOn('main', 'hello.txt')).toBe('hello, whoever reads this,')

  // A script cannot plan, and the page says so.
  await box.fill('A harbour for many boats')
  expect(await page.getByRole('button', { name: 'Plan', exact: true }).isDisabled()).toBe(true)
  await page.getByRole('combobox', { name: 'Agent' }).click()
  await page.getByRole('option', { name: 'planner', exact: true }).click()
  await page.getByRole('button', { name: 'Plan', exact: true }).click()
  await page.getByRole('button', { name: 'Approve' }).waitFor()
  expect(new URL(page.url()).pathname).toMatch(/^\/plans\/\w+$/)
  // The plan also waits on the home page, and can be decided there.
  await page.getByRole('link', { name: 'Home' }).click()
  await page.getByRole('heading', { name: 'Needs you (1)' }).waitFor()
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByRole('heading', { name: 'Landed today (2)' }).waitFor()
  await page.getByText('Nothing needs you.').waitFor()
  expect(await repo.readOn('main', 'a.txt')).toBe('a')
})

test('a fleet that is paused says so on every page, and goes on when it is told to', async () => {
  const fleet = await aFleet()
  onTestFinished(() => fleet.remove())
  await fleet.start()
  const { page } = await aPerson(fleet)
  await page.getByRole('button', { name: 'Pause the fleet' }).click()
  const bar = page.getByText('The fleet is paused')
  await bar.waitFor()
  await page.getByRole('link', { name: 'Projects' }).click()
  await bar.waitFor()
  // From the palette, like everything else.
  await page.keyboard.press('Control+k')
  await page.getByPlaceholder('Find a mission').fill('unpause')
  await page.keyboard.press('Enter')
  await bar.waitFor({ state: 'detached' })
  const { paused } = await fleet.call<{ paused: boolean }>('system_status')
  expect(paused).toBe(false)
})
