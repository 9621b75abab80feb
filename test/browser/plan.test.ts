import { expect, test } from 'vitest'
import { aPlanner, planOf } from '../kit/planner.ts'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, withBrowser } from './kit.ts'

withBrowser()

test('a goal becomes a plan, is changed and approved, and the graph shows it finish', async () => {
  const { fleet, repo, project, gate } = await aScene()
  const hold = gate('first')
  aPlanner(fleet).says(
    planOf(
      { key: 'a', script: `${hold.wait}; echo a > a.txt` },
      { key: 'b', script: 'cat a.txt > b.txt', after: ['a'] },
      { key: 'unwanted', script: 'echo no > unwanted.txt' },
    ),
  )
  const { page } = await aPerson(fleet)
  await page.getByRole('link', { name: 'Plans' }).click()
  await page.getByRole('button', { name: 'New plan' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('combobox', { name: 'Project' }).click()
  await page.getByRole('option').first().click()
  await dialog.getByLabel('Goal').fill('Two files')
  await dialog.getByRole('combobox', { name: 'Planner' }).click()
  await page.getByRole('option', { name: /planner/i }).click()
  await dialog.getByLabel('Allow scripts').click()
  await dialog.getByRole('button', { name: 'Plan', exact: true }).click()

  await page.getByRole('button', { name: 'Approve' }).waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Remove make unwanted' }).click()
  await page.getByRole('button', { name: 'make b', exact: true }).click()
  await page.getByLabel('Title').fill('copy it')
  await page.getByLabel('Script', { exact: true }).fill('cp a.txt copy.txt')
  await page.getByRole('button', { name: 'Approve as changed' }).click()

  // The second mission waits for the first, and says so.
  const plan = page.getByRole('region', { name: 'Missions of the plan' })
  await plan.getByText('Running').waitFor()
  await plan.getByText('Queued').waitFor()
  await page.getByText('Shell script · after make a', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Graph' }).click()
  await page
    .getByRole('region')
    .getByText(/Waiting for make a/)
    .waitFor()
  await page.goBack()
  hold.open()
  await plan.getByText('Done').nth(1).waitFor()
  expect(await repo.readOn('main', 'copy.txt')).toBe('a')
  const { missions } = await fleet.call<{ missions: { title: string }[] }>('list_missions', { project_id: project.id })
  expect(missions.map(({ title }) => title)).toEqual(expect.arrayContaining(['copy it', 'make a']))
  expect(missions, 'those two, and the planner').toHaveLength(3)

  await plan.getByText('copy it').click()
  await page.getByRole('heading', { level: 1, name: 'copy it' }).waitFor()
})
