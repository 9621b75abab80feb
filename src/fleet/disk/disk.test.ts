import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Mission } from '../../domain/records/mission.ts'
import { aMission, aSession, NOW } from '../../domain/samples.testkit.ts'
import { commitLeftovers } from '../../git/index.ts'
import { aDesk } from '../reactor.testkit.ts'
import type { Ref } from '../reactor.ts'
import { prepareFolder } from '../sessions/prepare.ts'
import { aBench, aWorkshop } from '../workshop.testkit.ts'
import { clean } from '../worktrees/cleaning.ts'
import { poolOf } from '../worktrees/pool.ts'
import { worktreeTurns } from '../worktrees/retiring.ts'
import { listWorktrees } from '../worktrees/worktrees.ts'
import { diskShareOf } from './limits.ts'
import { Measuring } from './measuring.ts'
import { Retention } from './retention.ts'
import { lastUse, measureDisk, quickUse } from './use.ts'

const KB = 1024
function fill(path: string, kilobytes: number): void {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, Buffer.alloc(kilobytes * KB, 1))
}

test('the home is measured by kind and by project, and the figures are there for the next who asks', async () => {
  const { fleet, project, repo } = await aWorkshop()
  const { home } = fleet
  fill(join(home.worktrees, project.id, 'w1', 'file'), 300)
  fill(join(home.path, 'repositories', project.id, 'w1', 'pack'), 200)
  fill(join(home.warm, project.id, 'e1', 'tree', 'file'), 100)
  fill(join(home.path, 'sessions', 's1', 'out'), 50)
  fill(join(home.trash, 'x', 'file'), 20)
  await repo.git('update-ref', 'refs/fleet/m1/1', 'HEAD')
  await repo.git('branch', 'fleet/shell/x')
  const use = (await measureDisk(fleet))!
  const [mine] = use.projects
  expect(mine).toMatchObject({ project_id: project.id, worktrees: { count: 1 }, warm: { count: 1 }, refs: 2 })
  for (const [bytes, least] of [
    [mine!.worktrees.bytes, 300],
    [mine!.repositories.bytes, 200],
    [use.warm.bytes, 100],
    [use.transcripts.bytes, 50],
    [use.trash.bytes, 20],
  ] as const) {
    expect(bytes).toBeGreaterThanOrEqual(least * KB)
    expect(bytes).toBeLessThan((least + 40) * KB)
  }
  expect(use.total_bytes).toBeGreaterThan(670 * KB)
  expect(use.free_bytes).toBeGreaterThan(0)
  expect(lastUse(fleet)).toMatchObject({ measured_at: NOW, worktrees: use.worktrees })
  fill(join(home.worktrees, project.id, 'w2', 'file'), 300)
  expect((await quickUse(fleet))!.worktrees.count).toBe(1)
})

test('figures that cannot be read count as none', async () => {
  const { fleet } = aBench()
  writeFileSync(join(fleet.home.path, 'disk.json'), '{"measured_at"')
  expect(lastUse(fleet)).toBeUndefined()
  expect(await quickUse(fleet)).toMatchObject({ worktrees: { count: 0, bytes: 0 } })
})

test('warm worktrees are listed, and clean says what they free before it puts them into the trash', async () => {
  const { fleet } = aBench()
  const { home } = fleet
  fill(join(home.warm, 'p1', 'e1', 'tree', 'node_modules', 'file'), 100)
  fill(join(home.warm, 'p1', 'e1', 'git', 'pack'), 40)
  fill(join(home.warm, 'p2', 'e2', 'tree', 'file'), 10)
  const [largest, second] = await listWorktrees(fleet)
  expect(largest).toMatchObject({ state: 'warm', project_id: 'p1', path: join(home.warm, 'p1', 'e1', 'tree') })
  expect(largest!.repository_bytes).toBeGreaterThanOrEqual(40 * KB)
  expect(second).toMatchObject({ project_id: 'p2' })
  expect(await listWorktrees(fleet, 'p2')).toEqual([second])

  const options = { olderThanHours: 0, keepBranches: false }
  expect(await clean(fleet, { ...options, dryRun: false })).toMatchObject({ freed_bytes: 0 })
  const would = await clean(fleet, { ...options, dryRun: true, warm: true })
  expect(would.freed.warm).toBeGreaterThanOrEqual(150 * KB)
  expect(would.freed_bytes).toBe(would.freed.warm)
  expect(readdirSync(join(home.warm, 'p1'))).toEqual(['e1'])
  expect((await clean(fleet, { ...options, dryRun: false, warm: true })).freed).toEqual(would.freed)
  expect(await listWorktrees(fleet)).toEqual([])
  expect(readdirSync(home.trash)).toEqual([])
})

test('the warm worktrees of one project can be discarded, also while another does the same', async () => {
  const { fleet } = aBench()
  const { warm, trash } = fleet.home
  for (const name of ['p1/a', 'p1/b', 'p2/c']) fill(join(warm, name, 'tree', 'file'), 1)
  await Promise.all([poolOf(fleet).drop('p1'), poolOf(fleet).drop('p1')])
  expect([readdirSync(warm), readdirSync(join(warm, 'p2')), readdirSync(trash).length > 0]).toEqual([
    ['p2'],
    ['c'],
    true,
  ])
  rmSync(warm, { recursive: true })
  await poolOf(fleet).drop()
})

test('a limit counts the worktrees of a project with their repositories, once they were measured', async () => {
  const { fleet, project } = await aWorkshop()
  fill(join(fleet.home.worktrees, project.id, 'w1', 'file'), 300)
  const limited = { ...project, disk_limit_gb: 1 }
  expect(diskShareOf(fleet, limited)).toBeNull()
  await measureDisk(fleet)
  expect(diskShareOf(fleet, project)).toBeNull()
  expect(diskShareOf(fleet, limited)).toMatchObject({ limitBytes: 1e9 })
  expect(diskShareOf(fleet, limited)!.usedBytes).toBeGreaterThan(300 * KB)

  fill(join(fleet.home.worktrees, project.id, 'w2', 'file'), 300)
  await clean(fleet, { olderThanHours: 0, keepBranches: false, dryRun: false })
  expect(diskShareOf(fleet, limited)!.usedBytes).toBeGreaterThan(600 * KB)
})

test('a server measures at once if a project has a limit, and tells who waits for it', async () => {
  const { fleet, project, change } = await aWorkshop()
  let told = 0
  const measured = Promise.withResolvers<void>()
  const reactor = new Measuring(fleet, () => {
    told++
    measured.resolve()
  })
  await reactor.tick()
  expect(lastUse(fleet)).toBeUndefined()
  await change('projects', project.id, { disk_limit_gb: 1 })
  await reactor.tick()
  await measured.promise
  expect([told, lastUse(fleet)?.worktrees.count]).toEqual([1, 0])
})

async function lost(more: Partial<Mission> = {}, days: number | null = 7) {
  const shop = await aWorkshop({ keep_worktrees_days: days })
  const { fleet, repo, project, save } = shop
  const base = await repo.tip()
  const worktree = join(fleet.home.worktrees, project.id, 'a-mission')
  const branch = 'fleet/shell/a-mission'
  const began = aSession({ worktree, branch, branch_from: base, start_commit: base, base_tip: base })
  const mission = aMission({ status: 'failed', session_id: 's1', sessions: 1, branch, ended_at: NOW, ...more })
  await prepareFolder(fleet, began, mission, project)
  writeFileSync(join(worktree, 'made.txt'), 'made\n')
  const { tip } = await commitLeftovers({ worktree, branch, message: 'made', never: [] })
  await save('missions', mission)
  await save('sessions', { ...began, status: 'ended', end_commit: tip, ended_at: NOW })
  const looks: number[] = []
  const at = (days: number) => {
    const now = new Date(Date.parse(NOW) + days * 86_400_000).toISOString()
    const later = Object.create(fleet, { now: { value: () => now } })
    const begun: Promise<unknown>[] = []
    const desk = {
      ...aDesk(),
      lookIn: (ms: number) => void looks.push(ms),
      goOn: (_: Ref, work: Promise<unknown>) => void begun.push(work),
    }
    const reactor = new Retention(later, desk)
    return {
      unfinished: () => reactor.unfinished(),
      /** Looks, and waits for what that began. */
      look: async (ref: Ref) => {
        await reactor.look(ref)
        await Promise.all(begun)
      },
    }
  }
  return { ...shop, worktree, tip, at, looks }
}

test('the worktree of a mission that failed goes after the days its project keeps it, and its work stays', async () => {
  const { repo, worktree, tip, at, looks, session, told, mission } = await lost()
  expect(await Array.fromAsync(at(0).unfinished())).toEqual(['missions/m1'])
  await at(6.99).look('missions/m1')
  expect([existsSync(worktree), looks.length, looks[0]! > 0]).toEqual([true, 1, true])
  await at(7).look('missions/m1')
  expect(existsSync(worktree)).toBe(false)
  expect(await repo.git('rev-parse', (await mission()).branch!)).toBe(tip)
  expect((await session('s1')).worktree_kept).toBe(false)
  expect(await told()).toEqual(['worktree_removed m1'])
  await at(8).look('missions/m1')
  expect(await told()).toEqual(['worktree_removed m1'])
  expect(await Array.fromAsync(at(8).unfinished())).toEqual([])
})

const takenOver: Mission['taken_over'] = {
  ...{ by: 'me', since: NOW, session_id: null, gone: false, page: false, next: null, message: null },
  ...{ terminal: { pid: 1, started: '1', boot: 'b', host: null } },
  ...{ was: { status: 'failed', result: null, ended_at: NOW } },
}

test.each<[string, Partial<Mission>, number | null]>([
  ['nobody set a number of days', {}, null],
  ['it waits for review', { status: 'review' }, 0],
  ['it was kept by a person', { status: 'done', result: 'kept' }, 0],
  ['a person continues it', { taken_over: takenOver }, 0],
])('the worktree stays if %s', async (_, more, days) => {
  const { worktree, at } = await lost(more, days)
  await at(1000).look('missions/m1')
  expect(existsSync(worktree)).toBe(true)
})

test('it waits for whoever is at work in the worktree, and then removes it', async () => {
  const { worktree, at } = await lost()
  const busy = Promise.withResolvers<void>()
  const turn = worktreeTurns.take('m1', () => busy.promise)
  const looked = at(8).look('missions/m1')
  expect(existsSync(worktree)).toBe(true)
  busy.resolve()
  await Promise.all([turn, looked])
  expect(existsSync(worktree)).toBe(false)
})

test('what no commit holds stays however old it is', async () => {
  const { worktree, at, looks } = await lost()
  writeFileSync(join(worktree, 'precious.txt'), 'mine')
  await at(1000).look('missions/m1')
  expect([existsSync(join(worktree, 'precious.txt')), looks.length]).toEqual([true, 1])
})
