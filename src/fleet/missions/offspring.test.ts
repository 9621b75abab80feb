import { expect, test } from 'vitest'
import { aMission, aProject, aReport, aSession } from '../../domain/samples.testkit.ts'
import { aBench } from '../workshop.testkit.ts'
import { followUp } from './follow-ups.ts'
import { forkMission } from './forks.ts'

const ask = { operation: 'test', actor: 'a person' }
const once = { again: false, dispatch: false }

async function done(more: Parameters<typeof aMission>[0] = {}) {
  const bench = aBench()
  await bench.save('projects', aProject())
  await bench.save('missions', aMission({ title: 'Next: the work', status: 'done', agent: 'claude', ...more }))
  return bench
}

test('what a report leaves to do becomes one mission, however often it is asked for', async () => {
  const { fleet, save } = await done()
  await save('reports', aReport({ next_steps: ['test it'], what_open: ['test it', 'say so'] }))
  const first = (await followUp(fleet, ask, 'm1', once)).value
  expect(first).toMatchObject({ title: 'Next: the work', status: 'draft', follows: 'm1', depends_on: ['m1'] })
  expect(await fleet.blobs.read(first.prompt)).toContain('It left this to do:\n\n- test it\n- say so\n\n')
  expect((await followUp(fleet, ask, 'm1', once)).value.id).toBe(first.id)
  expect((await followUp(fleet, ask, 'm1', { ...once, again: true })).value.id).not.toBe(first.id)
})

test('two people who ask at once get the same mission', async () => {
  const { fleet, save, told } = await done()
  await save('reports', aReport({ next_steps: ['test it'] }))
  const [one, other] = await Promise.all([followUp(fleet, ask, 'm1', once), followUp(fleet, ask, 'm1', once)])
  expect(one.value.id).toBe(other.value.id)
  expect(await told()).toEqual([`mission_created ${one.value.id}`])
})

test('it does not wait for a mission that failed, nor run prose as a script', async () => {
  const { fleet, save } = await done({ status: 'failed', agent: 'shell', script: true })
  await save('reports', aReport({ next_steps: ['test it'] }))
  await expect(followUp(fleet, ask, 'm1', once)).rejects.toThrow('has no coding agent, and none is installed')
  const { value, version } = (await fleet.store.get('projects', 'p1'))!
  await fleet.store.commit({ changes: [{ put: 'projects', value: { ...value, agent: 'claude' }, expects: version }] })
  expect((await followUp(fleet, ask, 'm1', once)).value).toMatchObject({ agent: null, script: false, depends_on: [] })
})

test.each([
  { reports: [], says: 'Mission m1 has no report yet.' },
  { reports: [aReport()], says: 'There is nothing to do: the report of mission m1 leaves nothing open.' },
])('nothing follows from nothing: $says', async ({ reports, says }) => {
  const { fleet, save } = await done()
  await save('reports', ...reports)
  await expect(followUp(fleet, ask, 'm1', once)).rejects.toThrow(says)
})

const finished = { status: 'ended', end_commit: 'abc', conversation: 'c1' } as const

test('a fork goes on with the work of the first, in the queue at once, and leaves the first alone', async () => {
  const { fleet, save, mission } = await done({ agent: 'shell', script: true, session_id: 's1' })
  await save('sessions', aSession(finished))
  const before = await mission()
  const withShell = Object.create(fleet, { environment: { value: { PATH: process.env.PATH } } })
  const fork = (await forkMission(withShell, ask, 'm1', { message: 'another way' }, true)).value
  expect(fork).toMatchObject({
    ...{ status: 'queued', next: { reason: 'fork' }, script: true, depends_on: [] },
    fork_of: { mission_id: 'm1', session_id: 's1', conversation: false },
  })
  expect(await mission()).toEqual(before)
})

test.each([
  { sessions: [], says: 'Mission m1 has not run, so there is nothing to fork.' },
  { sessions: [aSession()], says: 'Mission m1 is still at work' },
  { sessions: [aSession(finished)], says: 'cannot copy a conversation.' },
  {
    sessions: [aSession({ ...finished, agent: 'claude', conversation: null })],
    says: 'The session left no conversation to copy.',
  },
])('a fork without what it is to begin with is refused: $says', async ({ sessions, says }) => {
  const { fleet, save } = await done({ agent: 'shell', script: true, session_id: 's1' })
  await save('sessions', ...sessions)
  await expect(forkMission(fleet, ask, 'm1', {}, false)).rejects.toThrow(says)
})

test('another agent does not get the conversation of the first', async () => {
  const { fleet, save } = await done({ session_id: 's1' })
  await save('sessions', aSession({ ...finished, agent: 'claude' }))
  await expect(forkMission(fleet, ask, 'm1', { override: { agent: 'codex' } }, false)).rejects.toMatchObject({
    message: expect.stringContaining('cannot continue a conversation of another agent'),
    hint: 'Add --fresh to begin a new conversation with a written hand-over.',
  })
})
