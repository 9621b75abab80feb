import { expect, test } from 'vitest'
import { eventually } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'

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
  // Once the first has landed on its own, nothing blocks the other.
  await fleet.land(first.id)
  await fleet.until(first.id, 'done')
  await fleet.land(second.id)
  expect((await fleet.until(second.id, 'done', 'review')).result).toBe('landed')
})

test('work that was sent back does not ride along with what was started from it, whatever became of it since', async () => {
  const { fleet, repo, project, gate } = await aScene()
  const later = gate('later')
  const amend = 'echo better > part.txt; git add -A; git commit --quiet --amend -m better'
  const first = await fleet.mission(
    project,
    `if [ "$FLEET_REASON" = first ]; then echo bad > part.txt; git add -A; git commit --quiet -m bad; else ${amend}; fi`,
    { title: 'first', landing: 'review' },
  )
  const { branch, candidate } = await fleet.until(first.id, 'review')
  const second = await fleet.mission(project, `${later.wait}; echo d > done.txt`, { base_ref: branch, landing: 'auto' })
  await eventually('the second to begin', later.reached)
  await fleet.call('send_back_mission', { mission_id: first.id, message: 'Not like this.' })
  await eventually('the first to be better', async () => {
    const now = await fleet.show(first.id)
    return now.status === 'review' && now.candidate!.commit !== candidate!.commit
  })
  later.open()
  expect(await fleet.until(second.id, 'review', 'done', 'failed')).toMatchObject(UNAPPROVED)
  expect(await repo.filesOn('main')).toEqual(['README.md'])
})

test('work that was given up does not ride along, though it was to land by itself', async () => {
  const { fleet, repo, project, gate } = await aScene()
  const never = gate('never')
  const first = await fleet.mission(
    project,
    `echo s > secret.txt; git add -A; git commit --quiet -m own; ${never.wait}`,
    { title: 'first', landing: 'auto' },
  )
  await eventually('it to have something', never.reached)
  await fleet.call('cancel_mission', { mission_id: first.id })
  const { branch } = await eventually('its work to be kept', async () => {
    const now = await fleet.show(first.id)
    return now.status === 'cancelled' && now.sessions[0]?.end_commit ? now : undefined
  })
  const second = await fleet.mission(project, 'echo d > done.txt', { base_ref: branch, landing: 'auto' })
  expect(await fleet.until(second.id, 'review', 'done', 'failed')).toMatchObject(UNAPPROVED)
  expect(await repo.filesOn('main')).toEqual(['README.md'])
})

test('what a mission left beside its branch does not ride along either', async () => {
  const { fleet, repo, project } = await aScene()
  const aside = 'git switch --quiet -c aside; echo s > secret.txt; git add -A; git commit --quiet -m aside'
  const first = await fleet.mission(project, `${aside}; git switch --quiet -; echo f > first.txt`, {
    title: 'first',
    landing: 'never',
  })
  const { sessions } = await fleet.until(first.id, 'done')
  const commit = await repo.git('rev-parse', sessions[0]!.kept_refs[0]!)
  const second = await fleet.mission(project, `git merge --quiet --no-edit ${commit}; echo d > done.txt`, {
    landing: 'auto',
  })
  expect(await fleet.until(second.id, 'review', 'done', 'failed')).toMatchObject(UNAPPROVED)
  expect(await repo.filesOn('main')).toEqual(['README.md'])
})
