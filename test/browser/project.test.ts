import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { aRepository } from '../../src/git/testkit.ts'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, settled, withBrowser } from './kit.ts'

withBrowser()

test('removing a project asks before work goes that no commit holds', async () => {
  const { fleet, project } = await aScene({ project: { landing: 'never' } })
  const { id } = await fleet.mission(project, 'echo made >made.txt')
  const { worktree } = (await fleet.until(id, 'done')).sessions[0]!
  const precious = join(worktree!, 'precious.txt')
  writeFileSync(precious, 'mine')

  const { page, visit } = await aPerson(fleet, { expects: /409/ })
  await visit(`/projects/${project.id}`)
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('precious.txt').waitFor()
  expect(existsSync(precious)).toBe(true)
  await dialog.getByRole('button', { name: 'Remove with that work' }).click()
  await page.waitForURL(/\/projects$/)
  expect(existsSync(precious)).toBe(false)
})

test('another project is added as the first one was', async () => {
  const { fleet } = await aScene()
  const repo = await aRepository()
  onTestFinished(repo.remove)
  const { page, visit } = await aPerson(fleet)
  await visit('/projects')
  await page.getByRole('button', { name: 'Add project' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a project' })
  await dialog.getByRole('tab', { name: 'Browse' }).click()
  await settled(page)
  await screenshot(page, 'add-project')
  await expectAccessible(page)
  await dialog.getByRole('tab', { name: 'Path' }).click()
  await dialog.getByRole('textbox', { name: /Path on the machine/ }).fill(repo.path)
  await dialog.getByRole('button', { name: 'Add project' }).click()
  await page.waitForURL(/\/projects\/.+/)
  await page.getByText(repo.path).waitFor()
})

test('the time limit of a project is filled in as minutes', async () => {
  const { fleet, project } = await aScene()
  const { page, visit } = await aPerson(fleet)
  await visit(`/projects/${project.id}?tab=settings`)
  await page.getByLabel('Time limit (minutes)').fill('1.5')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Unsaved changes').waitFor({ state: 'detached' })
  const saved = await fleet.call<{ timeout_seconds: number }>('get_project', { project_id: project.id })
  expect(saved.timeout_seconds).toBe(90)
  await page.reload()
  expect(await page.getByLabel('Time limit (minutes)').inputValue()).toBe('1.5')
})

test('the checks of a project run on its base branch, and show live what they print', async () => {
  const { fleet, project, gate } = await aScene({ project: { name: 'Ship' } })
  const hold = gate('check')
  onTestFinished(() => hold.open())
  await fleet.call('update_project', {
    project_id: project.id,
    checks: [
      { name: 'lint', command: 'echo no faults' },
      { name: 'tests', command: `echo 3 of 5; ${hold.wait}; echo one broke; exit 4` },
    ],
  })
  const { page, visit } = await aPerson(fleet)
  await visit(`/projects/${project.id}?tab=checks`)
  await page.getByRole('button', { name: 'Run now' }).click()
  const run = page.getByRole('region', { name: 'Last run' })
  await run.getByText('Running', { exact: true }).waitFor()
  await run.getByText('1 of 2').waitFor()
  await run.getByText('3 of 5', { exact: true }).waitFor()
  await screenshot(page, 'checks-running')
  await expectAccessible(page)
  hold.open()
  await run.getByText('Failed', { exact: true }).waitFor()
  await run.getByText(/^exit 4 ·/).waitFor()
  await run.getByText('3 of 5\none broke', { exact: true }).waitFor()
  await run.getByText('$ echo no faults').waitFor({ state: 'hidden' })
  for (const look of [{ scheme: 'light' }, { scheme: 'dark' }, { size: 'phone' }] as const) {
    const other = await aPerson(fleet, look)
    await other.visit(`/projects/${project.id}?tab=checks`)
    await other.page.getByText('3 of 5\none broke', { exact: true }).waitFor()
    await settled(other.page)
    await screenshot(other.page, `checks-${Object.values(look)[0]}`)
    await expectAccessible(other.page)
    expect(await other.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  }
  await page.getByRole('button', { name: 'Run lint' }).click()
  await run.getByText('Passed', { exact: true }).waitFor()
  await run.getByText('1 of 1').waitFor()
})

test('a name or description that would reorder text is shown as it is', async () => {
  const { fleet, project } = await aScene({ project: { name: 'photo\u202Egpj.exe', description: 'of a\u2066 boat' } })
  const { page, visit } = await aPerson(fleet)
  for (const [path, where] of [
    ['/projects', 'main'],
    [`/projects/${project.id}`, 'h1'],
    ['/missions/new', 'main'],
  ] as const) {
    await visit(path)
    await page.locator(where).getByText('photo‹U+202E›gpj.exe').first().waitFor()
    expect(await page.locator('body').innerText()).not.toMatch(/[\u202e\u2066]/)
    expect(await page.title()).not.toMatch(/\u202e/)
  }
})
