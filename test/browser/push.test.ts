import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aGitHub, WITH_GH } from '../kit/github.ts'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, withBrowser } from './kit.ts'

withBrowser()

test('a branch is pushed without a pull request, exactly as shown; refusals are said in words', {
  timeout: 120_000,
}, async () => {
  const { fleet, repo, project } = await aScene({ env: { ...WITH_GH, FLEET_PULL_REQUEST_EVERY: '86400' } })
  const github = await aGitHub(repo)
  const { id } = await fleet.mission(project, 'echo bread > bread.txt', { title: 'Bake', landing: 'review' })
  const { candidate, branch } = await fleet.until(id, 'review')
  const { page, visit } = await aPerson(fleet, { expects: /409|503/ })
  await visit(`/missions/${id}`)
  const push = page.getByRole('button', { name: 'Push branch' })

  renameSync(github.path, `${github.path}.away`)
  await push.click()
  await page
    .getByText(/^origin \(.*\) could not be reached/)
    .first()
    .waitFor()
  renameSync(`${github.path}.away`, github.path)

  const hook = join(github.path, 'hooks/pre-receive')
  writeFileSync(hook, '#!/bin/sh\necho no bread today >&2\nexit 1\n')
  chmodSync(hook, 0o755)
  await push.click()
  await page
    .getByText(/^origin rejected the push: .*no bread today/s)
    .first()
    .waitFor()
  rmSync(hook)
  expect(await github.git('branch', '--list', 'fleet/*')).toBe('')

  await push.click()
  await page.getByText(`${branch} of origin`, { exact: false }).first().waitFor()
  expect((await github.git('rev-parse', branch!)).trim()).toBe(candidate!.commit)
  await push.waitFor({ state: 'detached' })
  expect(github.pulls()).toEqual([])
  await page.getByText(`Pushed the branch: ${branch}`).waitFor()
  await expectAccessible(page)
  await screenshot(page, 'push-light')
  for (const look of [{ scheme: 'dark' }, { size: 'phone' }] as const) {
    const other = await aPerson(fleet, look)
    await other.visit(`/missions/${id}`)
    await other.page.getByText('of origin (', { exact: false }).waitFor()
    await expectAccessible(other.page)
    await other.page.getByText('of origin (', { exact: false }).scrollIntoViewIfNeeded()
    await screenshot(other.page, `push-${Object.values(look)[0]}`)
  }

  // The same again from a terminal changes nothing, and a pull request can still follow on the same branch.
  const again = await fleet.fleetCommand(['mission', 'push', id, '--yes'])
  expect(again).toMatchObject({ code: 0 })
  expect(again.stdout).toContain(`Pushed ${branch} to origin`)
  await page.getByRole('button', { name: 'Push and open pull request' }).click()
  await page.getByRole('link', { name: 'Pull request #1' }).waitFor()
  const refused = await fleet.fleetCommand(['mission', 'push', id, '--yes'])
  expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining('has an open pull request') })
})

test('what somebody else put on the branch is not overwritten', async () => {
  const { fleet, repo, project } = await aScene()
  const github = await aGitHub(repo)
  const { id } = await fleet.mission(project, 'echo bread > bread.txt', { landing: 'review' })
  const { branch, candidate } = await fleet.until(id, 'review')
  await github.git('branch', branch!, 'main')
  const theirs = (await github.git('rev-parse', branch!)).trim()
  const refused = await fleet.fleetCommand(['mission', 'push', id, '--commit', candidate!.commit])
  expect(refused.stderr).toContain(`was changed by someone else, to ${theirs}`)
  expect((await github.git('rev-parse', branch!)).trim()).toBe(theirs)
})
