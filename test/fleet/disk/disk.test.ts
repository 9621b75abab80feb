import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { DiskUse } from '../../../src/fleet/disk/use.ts'
import { runGit } from '../../../src/git/testkit.ts'
import { eventually } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'

interface Shown {
  status: string
  waits_for: { kind: string; text: string }[]
}

test('a project at its disk limit starts nothing new and says so; clean makes room, and the mission starts', async () => {
  const { fleet, project } = await aScene({ project: { landing: 'never', disk_limit_gb: 0.001 } })
  const large = await fleet.mission(project, 'head -c 1500000 /dev/zero >large; exit 1')
  await fleet.until(large.id, 'failed')
  const use = await fleet.call<DiskUse>('disk_use', { now: true })
  expect(use.projects[0]).toMatchObject({ project_id: project.id, worktrees: { count: 1 } })
  expect(use.projects[0]!.worktrees.bytes).toBeGreaterThan(1_500_000)

  const next = await fleet.mission(project, 'echo made >made.txt')
  const show = () => fleet.call<Shown>('get_mission', { mission_id: next.id })
  expect(await show()).toMatchObject({
    status: 'queued',
    waits_for: [{ kind: 'disk', text: expect.stringMatching(/worktrees of its project use [12]\.\d MB of 1\.0 MB/) }],
  })
  const listed = await fleet.fleetCommand(['mission', 'list'])
  expect(listed.stdout).toContain('waiting: the worktrees of its project use')
  const status = await fleet.fleetCommand(['status'])
  expect(status.stdout).toMatch(/1 worktree \(\d\.\d MB\), transcripts/)

  const would = await fleet.fleetCommand(['clean', '--dry-run'])
  expect(would.stdout).toMatch(/Would free \d\.\d MB\./)
  expect((await show()).status).toBe('queued')
  const freed = await fleet.fleetCommand(['clean'])
  expect(freed.stdout).toMatch(/^Freed \d\.\d MB/m)
  await fleet.until(next.id, 'done')
})

test('the worktree of a failed mission is removed by itself once its days are over; its work stays as a ref', async () => {
  const { fleet, project, repo } = await aScene({ project: { landing: 'never' } })
  const { id } = await fleet.mission(project, 'echo made >made.txt; exit 1')
  const { sessions } = await fleet.until(id, 'failed')
  const worktree = sessions[0]!.worktree!
  expect(existsSync(worktree)).toBe(true)
  const set = await fleet.fleetCommand(['project', 'set', project.id, '--keep-worktrees', '0'])
  expect(set.code).toBe(0)
  await eventually('it is removed', () => !existsSync(worktree))
  await eventually('that is told', async () => {
    const { branch } = await fleet.call<{ branch: string }>('get_mission', { mission_id: id })
    return branch.startsWith('refs/fleet/') && (await runGit(repo.path, ['show', `${branch}:made.txt`])) === 'made'
  })
})

test('fleet clean --warm frees the worktrees that wait, without a server too', async () => {
  const { fleet, project } = await aScene({ start: false })
  const entry = join(fleet.fleet.home.warm, project.id, 'e1', 'tree')
  mkdirSync(entry, { recursive: true })
  writeFileSync(join(entry, 'file'), Buffer.alloc(200_000, 1))
  expect((await fleet.fleetCommand(['worktree', 'list'])).stdout).toMatch(/ warm +2\d\d KB/)
  expect((await fleet.fleetCommand(['status'])).stdout).toMatch(/1 warm \(2\d\d KB\)/)
  expect((await fleet.fleetCommand(['clean', '--warm', '--dry-run'])).stdout).toMatch(/Would free 2\d\d KB/)
  expect(existsSync(entry)).toBe(true)
  expect((await fleet.fleetCommand(['clean', '--warm'])).stdout).toMatch(/Freed 2\d\d KB/)
  expect([existsSync(entry), readdirSync(fleet.fleet.home.trash).length]).toEqual([false, 0])
})
