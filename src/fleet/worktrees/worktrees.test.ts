import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Mission } from '../../domain/records/mission.ts'
import type { Session } from '../../domain/records/session.ts'
import { aMission, aSession, NOW } from '../../domain/samples.testkit.ts'
import { commitLeftovers } from '../../git/index.ts'
import { measureDisk } from '../disk/use.ts'
import type { Fleet } from '../fleet.ts'
import { lookAtPlace } from '../landing/candidates.ts'
import { aDesk } from '../reactor.testkit.ts'
import { prepareFolder } from '../sessions/prepare.ts'
import { aBench, aWorkshop } from '../workshop.testkit.ts'
import { clean } from './cleaning.ts'
import { poolOf } from './pool.ts'
import { Worktrees } from './reactor.ts'
import { forgetMission, leftBehind, retire, stillHolds } from './retiring.ts'
import { listWorktrees } from './worktrees.ts'

/** A mission whose session made a file in a real worktree, and has ended. */
async function worked(more: Partial<Mission> = {}) {
  const shop = await aWorkshop()
  const { fleet, repo, project, save } = shop
  const base = await repo.tip()
  const worktree = join(fleet.home.worktrees, 'p1', 'a-mission')
  const branch = 'fleet/shell/a-mission'
  const began = aSession({ worktree, branch, branch_from: base, start_commit: base, base_tip: base })
  const mission = aMission({ status: 'done', result: 'landed', session_id: 's1', sessions: 1, branch, ...more })
  await prepareFolder(fleet, began, mission, project)
  writeFileSync(join(worktree, 'made.txt'), 'made\n')
  const { tip } = await commitLeftovers({ worktree, branch, message: 'made', never: [] })
  const session: Session = { ...began, status: 'ended', end_commit: tip, ended_at: NOW }
  await save('missions', { ...mission, candidate: { commit: tip, session_id: 's1', at: NOW } })
  await save('sessions', session)
  const ref = async (name: string) => (await repo.git('for-each-ref', '--format=%(refname)', name)) === name
  return { ...shop, worktree, branch, tip, ended: session, ref }
}

/** Looks, and waits for what that began. */
async function looked(fleet: Fleet, ref: `missions/${string}`): Promise<void> {
  const begun: Promise<unknown>[] = []
  await new Worktrees(fleet, { ...aDesk(), goOn: (_, work) => void begun.push(work) }).look(ref)
  await Promise.all(begun)
}

test('the worktree of work that landed goes, its commit stays under a ref, and a second look does nothing', async () => {
  const { fleet, repo, worktree, branch, tip, session, mission, told, ref } = await worked()
  await looked(fleet, 'missions/m1')
  expect(existsSync(worktree)).toBe(false)
  expect(await ref(`refs/heads/${branch}`)).toBe(false)
  expect(await repo.git('rev-parse', (await mission()).branch!)).toBe(tip)
  expect((await session('s1')).worktree_kept).toBe(false)
  const events = await told()
  expect(events).toEqual(['worktree_removed m1'])
  await looked(fleet, 'missions/m1')
  expect(await told()).toEqual(events)
})

test('a look for what earlier servers left disturbs nothing that is being laid aside or cleaned', async () => {
  const { fleet, project, ended } = await worked()
  const pool = poolOf(fleet)
  const faults: unknown[] = []
  pool.onFault = (what, error) => faults.push(`${what}: ${error}`)
  let isOver = false
  const looking = (async () => {
    for (; !isOver; await turn()) await pool.adopt(project)
  })()
  await retire(fleet, ended, { ...project, warm: ['deps'] })
  await pool.settled()
  isOver = true
  await looking
  expect(faults).toEqual([])
  expect(pool.list.map(({ state }) => state)).toEqual(['ready'])
})

test('what no commit holds keeps its worktree, and is told', async () => {
  const { fleet, worktree, session } = await worked()
  writeFileSync(join(worktree, 'precious.txt'), 'mine')
  await looked(fleet, 'missions/m1')
  expect(readFileSync(join(worktree, 'precious.txt'), 'utf8')).toBe('mine')
  expect((await session('s1')).left_behind).toBe('Not held by the project: precious.txt.')
  const left = await leftBehind(fleet, 'm1')
  expect(stillHolds(left, 'fleet mission delete m1 --discard')).toMatchObject({
    message: `The worktree ${worktree} holds work that no commit does. Not held by the project: precious.txt.`,
    hint: 'Look at it, then fleet mission delete m1 --discard',
  })
})

test.each<Partial<Mission>>([
  { status: 'review', result: null },
  { status: 'done', result: 'kept' },
  { status: 'running', result: null },
])('the worktree of work that somebody still wants stays: $status $result', async more => {
  const { fleet, worktree } = await worked(more)
  await looked(fleet, 'missions/m1')
  expect(existsSync(worktree)).toBe(true)
})

test('a worktree that a later mission shares stays until that has had its turn', async () => {
  const { fleet, worktree, save, change } = await worked()
  await save('missions', aMission({ id: 'm2', status: 'queued', depends_on: ['m1'], start_from: 'share' }))
  await looked(fleet, 'missions/m1')
  expect(existsSync(worktree)).toBe(true)
  await change('missions', 'm2', { status: 'cancelled' })
  await looked(fleet, 'missions/m1')
  expect(existsSync(worktree)).toBe(false)
})

test('nothing is done about a mission that is gone or being deleted', async () => {
  const { fleet, worktree, change } = await worked()
  await looked(fleet, 'missions/gone')
  await change('missions', 'm1', { deleting: true })
  await looked(fleet, 'missions/m1')
  expect(existsSync(worktree)).toBe(true)
})

test('cleaning says what stays and why, a trial removes nothing, and what is not old enough is not named', async () => {
  const { fleet, worktree, change, told } = await worked({ status: 'review', result: null })
  const all = { olderThanHours: 0, dryRun: false, keepBranches: false }
  expect((await clean(fleet, all)).worktrees).toMatchObject([{ kept_because: 'its work waits for review' }])
  await change('missions', 'm1', { status: 'cancelled' })
  expect((await clean(fleet, { ...all, olderThanHours: 1 })).worktrees).toEqual([])
  expect((await clean(fleet, { ...all, missions: new Set(['m9']) })).worktrees).toEqual([])
  const trial = await clean(fleet, { ...all, dryRun: true })
  expect(trial.freed_bytes).toBeGreaterThan(0)
  expect([existsSync(worktree), await told()]).toEqual([true, []])
  expect((await clean(fleet, all)).freed_bytes).toBe(trial.freed_bytes)
  expect(existsSync(worktree)).toBe(false)
  expect(await clean(fleet, all)).toMatchObject({ freed_bytes: 0, worktrees: [] })
})

test('a branch that a person wants to keep stays, and is still where the work is', async () => {
  const { fleet, project, ended, branch, mission, ref } = await worked()
  await retire(fleet, ended, project, { keepBranch: true })
  expect([await ref(`refs/heads/${branch}`), (await mission()).branch]).toEqual([true, branch])
})

test('a worktree that is removed twice, as after a crash, is told of once', async () => {
  const { fleet, project, ended, told } = await worked()
  for (let times = 0; times < 2; times++) expect(await retire(fleet, ended, project)).toBeUndefined()
  expect(await told()).toEqual(['worktree_removed m1'])
})

test('a mission that is forgotten leaves its commit under a ref, and its worktree if it holds more', async () => {
  const by = { actor: 'a person', now: NOW }
  const gone = await worked()
  await forgetMission(gone.fleet, 'm1', by)
  expect(existsSync(gone.worktree)).toBe(false)
  expect(await gone.repo.git('for-each-ref', '--contains', gone.tip, '--format=%(refname)')).toContain('refs/fleet/')
  const holds = await worked()
  await holds.change('sessions', 's1', { left_behind: 'Not committed: large.bin.' })
  await forgetMission(holds.fleet, 'm1', by)
  expect([existsSync(holds.worktree), await holds.fleet.store.get('missions', 'm1')]).toEqual([true, undefined])
})

test('what a person changes in the worktree of finished work becomes its candidate, without the old approval', async () => {
  const { fleet, worktree, tip, mission, told } = await worked({ status: 'review', result: null })
  expect((await lookAtPlace(fleet, await mission())).mission.candidate?.commit).toBe(tip)
  expect(await told()).toEqual([])
  writeFileSync(join(worktree, 'more.txt'), 'more\n')
  const { mission: now } = await lookAtPlace(fleet, await mission())
  expect(now.candidate?.commit).not.toBe(tip)
  expect(now.approval).toBeNull()
  expect(await told()).toEqual(['candidate_changed m1'])
  await lookAtPlace(fleet, now)
  expect(await told()).toEqual(['candidate_changed m1'])
})

test('every worktree on disk is listed with whose it is, and counted', async () => {
  const { fleet, worktree } = await worked({ status: 'review', result: null })
  expect(await listWorktrees(fleet)).toMatchObject([
    { path: worktree, project_id: 'p1', mission_id: 'm1', session_id: 's1', state: 'review', isolation: 'private' },
  ])
  expect(await listWorktrees(fleet, 'p2')).toEqual([])
  expect(await measureDisk(fleet)).toMatchObject({ worktrees: { count: 1 } })
})

test('after a start it finds ended sessions whose worktrees are kept', async () => {
  const { fleet, save } = aBench()
  await save('sessions', aSession({ id: 's1', status: 'ended' }), aSession({ id: 's2', mission_id: 'm2' }))
  await save('sessions', aSession({ id: 's3', mission_id: 'm3', status: 'ended', worktree_kept: false }))
  expect(await Array.fromAsync(new Worktrees(fleet, aDesk()).unfinished())).toEqual(['missions/m1'])
})

test('a worktree in which a hundred sessions worked goes with all of them', async () => {
  const { fleet, worktree, ended, save, session, change } = await worked()
  for (let from = 2; from <= 95; from += 40) {
    const some = Array.from({ length: Math.min(40, 96 - from) }, (_, i) => from + i)
    const at = (number: number): string => new Date(Date.parse(NOW) + number).toISOString()
    await save('sessions', ...some.map(number => ({ ...ended, id: `s${number}`, number, created_at: at(number) })))
  }
  await change('missions', 'm1', { session_id: 's95', sessions: 95 })
  await looked(fleet, 'missions/m1')
  expect(existsSync(worktree)).toBe(false)
  for (const id of ['s1', 's50', 's95']) expect(await session(id)).toMatchObject({ worktree_kept: false })
})
