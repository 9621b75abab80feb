import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ListedWorktree } from '../src/operations/worktrees.ts'
import { eventually } from './kit/fleet.ts'
import { aScene } from './kit/scene.ts'

test('worktrees are listed with whose they are and what they take, and removed once their mission is over', async () => {
  const { fleet, project, gate } = await aScene({
    project: { landing: 'review', checks: [{ name: 'true', command: 'true', timeout_seconds: 60 }] },
  })
  const done = await fleet.mission(project, 'head -c 300000 /dev/urandom >large; git add -A; git stash -q; echo x >x')
  await fleet.until(done.id, 'review')
  const wait = gate('at work')
  const busy = await fleet.mission(project, wait.wait)
  await eventually('it is at work', () => wait.reached())

  const { worktrees, bytes } = await fleet.call<{ worktrees: ListedWorktree[]; bytes: number }>('list_worktrees', {})
  const [first, second] = [done, busy].map(({ id }) => worktrees.find(({ mission_id }) => mission_id === id))
  expect(first).toMatchObject({ state: 'review', isolation: 'private', project_id: project.id, title: done.title })
  // What it stashed is in its repository only.
  expect(first!.repository_bytes).toBeGreaterThan(300_000)
  expect(second).toMatchObject({ state: 'at work' })
  expect(bytes).toBe(worktrees.reduce((sum, each) => sum + each.bytes + each.repository_bytes, 0))

  const list = await fleet.fleetCommand(['worktree', 'list'])
  expect(list.stdout).toMatch(/MISSION +STATE +FILES +REPOSITORY +AGE/)
  expect(list.stdout).toContain('at work')
  const refused = await fleet.fleetCommand(['worktree', 'remove', done.id])
  expect([refused.code, refused.stderr]).toEqual([expect.any(Number), expect.stringContaining('its mission is review')])
  expect(refused.code).not.toBe(0)
  await fleet.call('cancel_mission', { mission_id: done.id })
  const removed = await fleet.fleetCommand(['worktree', 'remove', done.id])
  expect([removed.code, removed.stdout]).toEqual([0, expect.stringContaining(`Removed ${first!.path}`)])
  expect(existsSync(first!.path)).toBe(false)
  expect(existsSync(join(first!.path, '../../../repositories', project.id, first!.path.split('/').at(-1)!))).toBe(false)
  wait.open()
  await fleet.until(busy.id, 'done', 'review', 'failed')
})

test('a worktree that holds something which no commit does stays, is not counted as freed, and it is said why', async () => {
  const { fleet, project } = await aScene({ project: { landing: 'review' } })
  const { id } = await fleet.mission(project, 'echo made >made.txt')
  const { sessions } = await fleet.until(id, 'review')
  await fleet.call('cancel_mission', { mission_id: id })
  const { worktree } = sessions[0]!
  writeFileSync(join(worktree!, 'precious.txt'), 'mine')
  const cleaned = await fleet.call<{ freed_bytes: number; worktrees: { kept_because?: string }[] }>('clean', {})
  expect(cleaned).toMatchObject({
    freed_bytes: 0,
    worktrees: [{ kept_because: expect.stringContaining('precious.txt') }],
  })
  expect(readFileSync(join(worktree!, 'precious.txt'), 'utf8')).toBe('mine')
})
