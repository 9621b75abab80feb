import { expect, test } from 'vitest'
import { MISSION_COUNTS } from '../domain/records/fleet.ts'
import type { Status } from '../domain/records/mission.ts'
import { NO_USAGE } from '../domain/records/session.ts'
import { about } from '../domain/rules/life.ts'
import { aMission, aSession, BY, NOW } from '../domain/samples.testkit.ts'
import { LaggingStore } from '../store/index.ts'
import { countsAndTotals, missionCounts, saveCounts } from './counts.ts'
import { aFleet } from './fleet.testkit.ts'
import type { Fleet } from './fleet.ts'
import { put } from './records.ts'

const lagging = (): { fleet: Fleet; store: LaggingStore } => {
  const store = new LaggingStore()
  return { store, fleet: aFleet({ store, now: () => NOW }) }
}

/** Changes the status of a mission like every commit does: with an event that has the old and the new status. */
async function move({ store }: Fleet, id: string, status: Status | null): Promise<void> {
  const before = await store.get('missions', id)
  const mission = aMission({ id, status: status ?? 'draft' })
  const data = { was: before?.value.status ?? null, status }
  await store.commit({
    changes: [
      status === null && before
        ? { remove: 'missions', id, expects: before.version }
        : put('missions', mission, before?.version ?? 'absent'),
    ],
    events: [about(mission, 'mission_updated', BY, { data })],
  })
}
const counts = async (fleet: Fleet) => (await missionCounts(fleet)).counts
const saved = async ({ store }: Fleet) => (await store.get('counts', MISSION_COUNTS))?.value

/** Saves the counts now, however few events were folded. */
async function save(fleet: Fleet): Promise<void> {
  const { counts, projects } = await missionCounts(fleet)
  const before = await fleet.store.get('counts', MISSION_COUNTS)
  const cursor = await fleet.store.tail()
  const value = { id: MISSION_COUNTS as typeof MISSION_COUNTS, counts, projects, cursor, totals: null }
  await fleet.store.commit({ changes: [put('counts', value, before?.version ?? 'absent')] })
}

test('missions are counted by status, in all and in each project', async () => {
  const { fleet } = lagging()
  await move(fleet, 'a', 'queued')
  await move(fleet, 'b', 'queued')
  await save(fleet)
  await move(fleet, 'b', 'running')
  expect(await missionCounts(fleet)).toEqual({
    counts: { queued: 1, running: 1 },
    projects: { p1: { queued: 1, running: 1 } },
  })
})

test('missions are counted again, and the counts are saved, when events were dropped that nobody counted', async () => {
  const { fleet, store } = lagging()
  for (const id of ['a', 'b', 'c']) await move(fleet, id, 'queued')
  await save(fleet)
  await move(fleet, 'a', 'done')
  await move(fleet, 'b', 'done')
  await store.trimEvents(1)
  expect(await missionCounts(fleet)).toEqual({
    counts: { queued: 1, done: 2 },
    projects: { p1: { queued: 1, done: 2 } },
  })
  await saveCounts(fleet)
  expect(await saved(fleet)).toMatchObject({ counts: { queued: 1, done: 2 }, cursor: await store.tail() })
})

test('a recount rests on events where lists lag behind', async () => {
  const { fleet, store } = lagging()
  for (const id of ['a', 'b', 'c']) await move(fleet, id, 'queued')
  await save(fleet)
  await move(fleet, 'a', 'running')
  store.freezeLists()
  await move(fleet, 'a', 'done')
  await move(fleet, 'b', null)
  await move(fleet, 'd', 'draft')
  await store.trimEvents(3)
  expect(await counts(fleet)).toEqual({ queued: 1, done: 1, draft: 1 })
  expect((await missionCounts(fleet)).projects).toEqual({ p1: { queued: 1, done: 1, draft: 1 } })
})

const anEnd = async (fleet: Fleet, id: string, { record = true, event = true } = {}) => {
  const usage = { ...NO_USAGE, cost_usd: 1 }
  const session = aSession({ id, status: 'ended', outcome: 'failed', agent: 'codex', usage })
  const data = { outcome: 'failed', agent: 'codex', usage }
  await fleet.store.commit({
    changes: record ? [put('sessions', session, 'absent')] : [],
    events: event ? [about(aMission(), 'session_ended', BY, { session_id: id, data })] : [],
  })
}
const codex = async (fleet: Fleet) => (await countsAndTotals(fleet)).totals.sessions.codex

test('ended sessions are counted once, those of an earlier version and those that end meanwhile', async () => {
  const { fleet } = lagging()
  await save(fleet)
  await anEnd(fleet, 'old', { event: false })
  await anEnd(fleet, 'seen')
  await expect.poll(() => codex(fleet)).toEqual({ failed: 2 })
  await saveCounts(fleet)
  expect((await saved(fleet))?.totals?.sessions).toEqual({ codex: { failed: 2 } })
  await anEnd(fleet, 'next')
  expect(await codex(fleet)).toEqual({ failed: 3 })
})

test('what a deleted session used stays counted', async () => {
  const { fleet } = lagging()
  await save(fleet)
  await anEnd(fleet, 'a')
  await expect.poll(() => codex(fleet)).toEqual({ failed: 1 })
  await saveCounts(fleet)
  const { version } = (await fleet.store.get('sessions', 'a'))!
  await fleet.store.commit({ changes: [{ remove: 'sessions', id: 'a', expects: version }] })
  await anEnd(fleet, 'b', { record: false })
  expect((await countsAndTotals(fleet)).totals).toMatchObject({
    sessions: { codex: { failed: 2 } },
    usage: { codex: { cost_usd: 2 } },
  })
})
