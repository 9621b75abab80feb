import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aScene } from '../kit/scene.ts'
import { aPerson, withBrowser } from './kit.ts'

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
