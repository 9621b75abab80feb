import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { aScene } from '../../kit/scene.ts'

/** Fails the first time after it wrote a file, and continues from there when it is resumed. */
const SCRIPT = 'if [ "$FLEET_REASON" = resume ]; then cat first.txt > second.txt; else echo one > first.txt; exit 1; fi'

test('a resumed mission goes on in the same worktree with what was there', async () => {
  const { fleet, repo, project } = await aScene()
  const { id } = await fleet.mission(project, SCRIPT)
  const failed = await fleet.until(id, 'failed')

  await fleet.call('resume_mission', { mission_id: id })
  const done = await fleet.until(id, 'done', 'failed')
  expect(done).toMatchObject({ status: 'done', result: 'landed' })
  expect(done.sessions[1]!.worktree).toBe(failed.sessions[0]!.worktree)
  expect(await repo.readOn('main', 'second.txt')).toBe('one')
})

test('also after it was cleaned away: the worktree is made again at its old path from what was kept', async () => {
  const { fleet, repo, project } = await aScene()
  const { id } = await fleet.mission(project, SCRIPT)
  const failed = await fleet.until(id, 'failed')
  const { worktree, branch } = failed.sessions[0]!
  const cleaned = await fleet.call<{ freed_bytes: number; worktrees: { ref: string }[] }>('clean', {})
  expect(cleaned.freed_bytes).toBeGreaterThan(0)
  expect(existsSync(worktree!)).toBe(false)
  expect(await repo.readOn(cleaned.worktrees[0]!.ref, 'first.txt')).toBe('one')
  expect(await repo.git('for-each-ref', `refs/heads/${branch}`)).toBe('')

  await fleet.call('resume_mission', { mission_id: id })
  const done = await fleet.until(id, 'done', 'failed')
  expect(done).toMatchObject({ status: 'done', result: 'landed' })
  expect(done.sessions[1]!.worktree).toBe(worktree)
  expect(await repo.readOn('main', 'second.txt')).toBe('one')
})

test('a retried mission starts over on a new branch and the old work is kept as a ref', async () => {
  const { fleet, repo, project } = await aScene()
  const { id } = await fleet.mission(
    project,
    'if [ "$FLEET_REASON" = retry ]; then test ! -e first.txt && echo two > second.txt; else echo one > first.txt; exit 1; fi',
  )
  const failed = await fleet.until(id, 'failed')

  await fleet.call('retry_mission', { mission_id: id })
  const done = await fleet.until(id, 'done', 'failed')
  expect(done).toMatchObject({ status: 'done', result: 'landed' })
  expect(done.sessions[1]!.branch).not.toBe(failed.sessions[0]!.branch)
  expect(await repo.filesOn('main')).toEqual(['README.md', 'second.txt'])
  expect(await repo.readOn(`refs/fleet/${id}/1`, 'first.txt')).toBe('one')
})

test('a done mission goes back to work by reopen only, on top of what landed', async () => {
  const { fleet, repo, project } = await aScene()
  const { id } = await fleet.mission(project, 'echo "$FLEET_REASON" >> reasons.txt')
  await fleet.until(id, 'done')
  await expect(fleet.call('retry_mission', { mission_id: id })).rejects.toThrow(/is done/)

  await fleet.call('reopen_mission', { mission_id: id })
  const done = await fleet.until(id, 'done', 'failed')
  expect(done).toMatchObject({ result: 'landed', sessions: [{ reason: 'first' }, { reason: 'reopen' }] })
  expect(await repo.readOn('main', 'reasons.txt')).toBe('first\nreopen')
})

test('a deleted mission leaves its work in the repository and nothing on the disk', async () => {
  const { fleet, repo, project } = await aScene()
  const { id } = await fleet.mission(project, SCRIPT)
  const { sessions } = await fleet.until(id, 'failed')
  await fleet.call('delete_mission', { mission_id: id })
  await expect(fleet.show(id)).rejects.toThrow(/no mission/)
  expect(existsSync(sessions[0]!.worktree!)).toBe(false)
  expect(existsSync(fleet.fleet.home.session(sessions[0]!.id))).toBe(false)
  expect(await repo.readOn(`refs/fleet/${id}/1`, 'first.txt')).toBe('one')
})
