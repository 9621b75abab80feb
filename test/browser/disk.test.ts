import { expect, test } from 'vitest'
import { aScene } from '../kit/scene.ts'
import { aPerson, withBrowser } from './kit.ts'

withBrowser()

test('the settings show what the disk holds by project, and a limit can be set', async () => {
  const { fleet, project } = await aScene({ project: { name: 'Ship', landing: 'never' } })
  const { id } = await fleet.mission(project, 'head -c 3000000 /dev/zero >large; exit 1')
  await fleet.until(id, 'failed')
  const { page, visit } = await aPerson(fleet)
  await visit('/settings')
  await page.getByRole('button', { name: 'Measure now' }).click()
  const row = page.getByRole('row', { name: 'Ship' })
  await row.getByText(/^1 \(3\.\d MB\)$/).waitFor()
  await page.getByText(/used, .* free, now\. Beside worktrees: 1 transcript/).waitFor()

  await visit(`/projects/${project.id}`)
  await page.getByRole('tab', { name: 'Settings and budget' }).click()
  await page.getByLabel('Disk limit (GB)').fill('0.002')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const next = await fleet.mission(project, 'true')
  await visit(`/missions/${next.id}`)
  await page.getByText(/the worktrees of its project use 3\.\d MB of 2\.0 MB/).waitFor()
  expect((await fleet.call<{ status: string }>('get_mission', { mission_id: next.id })).status).toBe('queued')
})
