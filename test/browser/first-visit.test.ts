import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { aRepository, runGit, type TestRepository } from '../../src/git/testkit.ts'
import { aFleet, type TestFleet } from '../kit/fleet.ts'
import { aPerson, expectAccessible, screenshot, settled, withBrowser } from './kit.ts'

withBrowser()

/** A machine with a person's home folder: a repository in it, another one beside it, and no coding agent. */
async function aMachine(): Promise<{ fleet: TestFleet; repo: TestRepository; home: string }> {
  const repo = await aRepository({ files: { 'src/sails.ts': 'x\n', 'README.md': '# Boat\n' } })
  const fleet = await aFleet()
  onTestFinished(async () => {
    await fleet.remove()
    await repo.remove()
  })
  const home = join(fleet.root, 'me')
  mkdirSync(join(home, 'code', 'notes'), { recursive: true })
  await runGit(home, ['clone', '--quiet', repo.path, 'code/boat'])
  await fleet.start({ env: { HOME: home, PATH: '/usr/bin:/bin' } })
  return { fleet, repo, home }
}

test('a repository that was found is a project in one act, and a script is its first task', async () => {
  const { fleet, home } = await aMachine()
  const { page } = await aPerson(fleet)
  await page.getByRole('heading', { name: 'Choose a repository' }).waitFor()
  await page.getByText(join(home, 'code/boat')).waitFor()
  // Without any agent the page says how to get one, and what works without.
  await page.getByText('npm install -g @anthropic-ai/claude-code').waitFor()
  await page.getByText('Run a script').waitFor()
  await settled(page)
  await expectAccessible(page)
  await screenshot(page, 'first-visit-light')
  await page.getByRole('button', { name: 'Add boat' }).click()

  // The box has the focus, and the agent that is there is named.
  const box = page.getByRole('textbox', { name: 'Script' })
  await box.waitFor()
  expect(await page.getByRole('combobox', { name: 'Agent' }).innerText()).toBe('Run a script (shell)')
  expect(await page.getByRole('combobox', { name: 'Project' }).innerText()).toBe('boat')
  await expect.poll(() => page.locator(':focus').getAttribute('aria-label')).toBe('Script')
  await screenshot(page, 'first-task-light')
  await page.keyboard.type('echo hello > hello.txt')
  await page.keyboard.press('Control+Enter')
  await page.getByText('is queued').first().waitFor()
  await page.getByRole('button', { name: 'Land', exact: true }).click()
  await page.getByRole('heading', { name: 'Landed today (1)' }).waitFor()
})

test('folders are browsed within the home of the person', async () => {
  const { fleet, home } = await aMachine()
  const { page } = await aPerson(fleet, { size: 'phone' })
  await page.getByRole('tab', { name: 'Browse' }).click()
  const here = page.locator('.here')
  await expect.poll(() => here.innerText()).toBe(home)
  expect(await page.getByRole('button', { name: 'Up' }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'code', exact: true }).click()
  await page.getByRole('button', { name: 'notes', exact: true }).waitFor()
  await settled(page)
  await expectAccessible(page)
  await screenshot(page, 'first-visit-browse-phone')
  await page.getByRole('button', { name: 'Add boat' }).click()
  await page.getByText('Project added.').first().waitFor()
  const { projects } = await fleet.call<{ projects: { path: string }[] }>('list_projects')
  expect(projects.map(({ path }) => path)).toEqual([join(home, 'code/boat')])
})

test('a repository is cloned, and a wrong address says why', async () => {
  const { fleet, home } = await aMachine()
  const { page } = await aPerson(fleet, { expects: /400/ })
  await page.getByRole('tab', { name: 'Clone' }).click()
  const address = page.getByRole('textbox', { name: 'Address' })
  const clone = page.getByRole('button', { name: 'Clone' })
  await address.fill('ext::sh -c id')
  await clone.click()
  await page.getByText('is not an address that git can clone').first().waitFor()
  await address.fill('git://127.0.0.1:1/shop')
  await clone.click()
  await page.getByRole('alert').getByText('the server does not answer').waitFor()
  await expectAccessible(page)
  await screenshot(page, 'first-visit-clone-light')
  await address.fill(`file://${home}/code/boat`)
  await clone.click()
  await page.getByText('Project added.').first().waitFor()
  const { projects } = await fleet.call<{ projects: { path: string }[] }>('list_projects')
  expect(projects.map(({ path }) => path)).toEqual([join(home, 'boat')])
})

test('the sample project is there in one act', async () => {
  const { fleet } = await aMachine()
  const { page } = await aPerson(fleet)
  await page.getByRole('button', { name: 'Create sample project' }).click()
  await page.getByRole('heading', { name: /^Needs you \(1\)/ }).waitFor({ timeout: 60_000 })
  await expect.poll(() => page.title()).toBe('(1) Home · Flotilla')
  await settled(page)
  await screenshot(page, 'home-sample-light')
}, 90_000)
