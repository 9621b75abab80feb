import { expect, test } from 'vitest'
import { eventually } from '../kit/fleet.ts'
import { aGitHub, WITH_GH } from '../kit/github.ts'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, withBrowser } from './kit.ts'

withBrowser()

const run = { name: 'build', status: 'COMPLETED', detailsUrl: 'https://ci.example/1' }

test('a pull request from the page of a mission: pushed and opened, its CI seen, merged', {
  timeout: 120_000,
}, async () => {
  const scene = await aScene({ env: { ...WITH_GH, FLEET_PULL_REQUEST_EVERY: '86400' } })
  const { fleet, repo, project } = scene
  const github = await aGitHub(repo)
  const { id } = await fleet.mission(project, 'echo bread > bread.txt', { title: 'Bake', landing: 'review' })
  await fleet.until(id, 'review')

  const { page, visit } = await aPerson(fleet)
  await visit(`/missions/${id}`)
  await page.getByRole('button', { name: 'Push and open pull request' }).click()
  await page.getByRole('link', { name: 'Pull request #1' }).waitFor()
  await page.getByText('No CI checks reported yet.').waitFor()
  expect(github.pulls()).toMatchObject([{ state: 'OPEN', title: 'Bake' }])

  github.change(1, { statusCheckRollup: [{ ...run, conclusion: 'FAILURE' }] })
  await page.getByRole('button', { name: 'Refresh' }).click()
  const checks = page.getByRole('list', { name: 'CI checks' })
  await checks.getByText('build failed').waitFor()
  await page.getByText('Checks failed on its pull request (build)').first().waitFor()
  await expectAccessible(page)
  await screenshot(page, 'pull-request-light')
  github.change(1, { statusCheckRollup: [{ ...run, conclusion: 'SUCCESS' }] })
  await page.getByRole('button', { name: 'Refresh' }).click()
  await checks.getByText('build passed').waitFor()
  for (const look of [{ scheme: 'dark' }, { size: 'phone' }] as const) {
    const other = await aPerson(fleet, look)
    await other.visit(`/missions/${id}`)
    await other.page.getByRole('list', { name: 'CI checks' }).waitFor()
    await expectAccessible(other.page)
    await screenshot(other.page, `pull-request-${'scheme' in look ? look.scheme : look.size}`)
  }
  await page.getByRole('button', { name: 'Merge', exact: true }).click()
  await page.getByText('Merged', { exact: true }).waitFor()
  await eventually('it landed', async () => (await fleet.show(id)).landed !== null)
  expect(await repo.readOn('main', 'bread.txt')).toBe('bread')
})
