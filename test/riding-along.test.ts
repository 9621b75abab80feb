import { expect, test } from 'vitest'
import { aScene } from './kit/scene.ts'

const UNAPPROVED = { status: 'review', status_reason: { code: 'unapproved', text: expect.stringContaining('“first”') } }

test('work under never does not ride along with a mission that was started from its branch', async () => {
  const { fleet, repo, project } = await aScene()
  const first = await fleet.mission(project, 'echo s > secret.txt', { title: 'first', landing: 'never' })
  const { branch } = await fleet.until(first.id, 'done')
  const second = await fleet.mission(project, 'echo d > done.txt', { base_ref: branch, landing: 'auto' })
  expect(await fleet.until(second.id, 'review', 'done', 'failed')).toMatchObject(UNAPPROVED)
  expect(await repo.filesOn('main')).toEqual(['README.md'])
})

test.each([
  ['as it is', 'true'],
  ['beside work of its own', 'echo d > done.txt; git add -A; git commit --quiet -m own'],
])('work in review does not ride along with a mission whose agent merges it, %s', async (_, own) => {
  const { fleet, repo, project } = await aScene()
  const first = await fleet.mission(project, 'git commit --quiet --allow-empty -m own; echo s > secret.txt', {
    title: 'first',
    landing: 'review',
  })
  const { candidate } = await fleet.until(first.id, 'review')
  const second = await fleet.mission(
    project,
    `${own}; git merge --quiet --no-edit ${candidate!.commit}; echo m > more.txt`,
    {
      landing: 'auto',
    },
  )
  expect(await fleet.until(second.id, 'review', 'done', 'failed')).toMatchObject(UNAPPROVED)
  expect(await repo.filesOn('main')).toEqual(['README.md'])
  // Once it has landed by itself, nothing holds the other up.
  await fleet.land(first.id)
  await fleet.until(first.id, 'done')
  await fleet.land(second.id)
  expect((await fleet.until(second.id, 'done', 'review')).result).toBe('landed')
})
