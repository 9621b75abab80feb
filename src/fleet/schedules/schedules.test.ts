import { expect, test } from 'vitest'
import type { Mission } from '../../domain/records/mission.ts'
import { type Schedule, ScheduleSettings } from '../../domain/records/schedule.ts'
import { aMission, aProject } from '../../domain/samples.testkit.ts'
import { aFleet } from '../fleet.testkit.ts'
import type { Fleet } from '../fleet.ts'
import { aDesk } from '../reactor.testkit.ts'
import type { Desk } from '../reactor.ts'
import { change, commitsOf, eventsOf, keep, meanwhile, read, TAKEN_OVER, withProgram } from '../records.testkit.ts'
import { all } from '../records.ts'
import { planOf } from '../workflows/stages.ts'
import { createWorkflow } from '../workflows/workflows.ts'
import { cronTimesOf } from './cron-times.ts'
import { removeSchedule, runSchedule, Schedules, setSchedule } from './scheduler.ts'

const ASK = { operation: 'test', actor: 'person' }
const hourly = (more: Partial<ScheduleSettings> = {}) =>
  ScheduleSettings.parse({ cron: '0 * * * *', time_zone: 'UTC', ...more })

/** A mission that is copied every hour, and the clock. */
async function aSchedule(settings: Partial<ScheduleSettings> = {}) {
  const clock = { now: '2026-11-15T09:30:00.000Z' }
  const fleet = withProgram(aFleet({ now: () => clock.now }), 'claude')
  await keep(fleet, 'projects', aProject({ agent: 'claude' }))
  await keep(fleet, 'missions', aMission({ status: 'done', prompt: { inline: 'Look for old packages.' } }))
  await setSchedule(fleet, ASK, { of: 'mission', id: 'm1' }, hourly(settings))
  const reactor = new Schedules(fleet, aDesk())
  /** The clock shows this time of the day, and the reactor wakes. */
  const at = (time: string) => {
    clock.now = `2026-11-15T${time}:00.000Z`
    return reactor.pass()
  }
  const schedule = (): Promise<Schedule> => read(fleet, 'schedules', 'm1')
  const last = async () => (await schedule()).last!.copy_id
  return { fleet, clock, reactor, at, schedule, last, copies: () => copiesIn(fleet) }
}

const copiesIn = async (fleet: Fleet): Promise<Mission[]> => {
  const missions = await Array.fromAsync(all(fleet, 'missions', 'project', ['p1']), ({ value }) => value)
  return missions.filter(({ scheduled }) => scheduled !== null)
}

test('before its time nothing is made, and at its time one queued copy that says whose it is', async () => {
  const { at, copies, schedule } = await aSchedule()
  await at('09:59')
  expect(await copies()).toEqual([])
  await at('10:00')
  const cron_time = '2026-11-15T10:00:00.000Z'
  const copy = { status: 'queued', prompt: { inline: 'Look for old packages.' }, scheduled: { by: 'm1', cron_time } }
  expect(await copies()).toMatchObject([copy])
  expect(await schedule()).toMatchObject({ made: 1, next_at: '2026-11-15T11:00:00.000Z' })
})

test('a second look at the same time makes nothing', async () => {
  const { fleet, at, reactor } = await aSchedule()
  await at('10:00')
  const again = async () => {
    await reactor.pass()
    await reactor.look('schedules/m1')
  }
  expect(await commitsOf(fleet, again)).toBe(0)
})

test('two servers that wake for the same time make one copy', async () => {
  const { fleet, clock, reactor, copies, schedule } = await aSchedule()
  clock.now = '2026-11-15T10:00:00.000Z'
  await Promise.all([reactor.pass(), new Schedules(fleet, aDesk()).pass()])
  expect(await copies()).toHaveLength(1)
  expect((await schedule()).made).toBe(1)
})

test('a clock that was put back makes no second copy for the same time', async () => {
  const { fleet, at, copies, last } = await aSchedule()
  await at('10:00')
  await change(fleet, 'missions', await last(), { status: 'done' })
  await change(fleet, 'schedules', 'm1', { next_at: '2026-11-15T10:00:00.000Z' })
  await at('10:00')
  expect(await copies()).toHaveLength(1)
})

test.each<{ overlap: Schedule['overlap']; made: number; waiting: number; skipped: number; first: Mission['status'] }>([
  { overlap: 'skip', made: 1, waiting: 0, skipped: 1, first: 'queued' },
  { overlap: 'queue', made: 1, waiting: 1, skipped: 0, first: 'queued' },
  { overlap: 'replace', made: 1, waiting: 1, skipped: 0, first: 'cancelled' },
])('while the last copy is at work, $overlap', async ({ overlap, first, made, waiting, skipped }) => {
  const { fleet, at, schedule, last } = await aSchedule({ overlap })
  await at('10:00')
  const copy = await last()
  await at('11:00')
  const now = await schedule()
  expect({ ...now, waiting: now.waiting.length }).toMatchObject({ made, waiting, skipped })
  expect((await read(fleet, 'missions', copy)).status).toBe(first)
  // As soon as the last one is over, the waiting ones are made.
  await change(fleet, 'missions', copy, { status: 'cancelled' })
  await at('11:01')
  expect((await schedule()).made).toBe(made + waiting)
})

test('a copy that a person has taken over is left to them: the next one waits, and the schedule goes on', async () => {
  const { fleet, at, schedule, last } = await aSchedule({ overlap: 'replace' })
  await at('10:00')
  await change(fleet, 'missions', await last(), { status: 'needs_input', taken_over: TAKEN_OVER })
  await at('11:00')
  expect(await schedule()).toMatchObject({ enabled: true, problem: null, waiting: ['2026-11-15T11:00:00.000Z'] })
  expect((await read(fleet, 'missions', await last())).status).toBe('needs_input')
})

test.each<{ catch_up: Schedule['catch_up']; made: number; skipped: number }>([
  { catch_up: 'none', made: 0, skipped: 1 },
  { catch_up: 'once', made: 1, skipped: 0 },
])('after hours without a server, catch_up $catch_up makes $made', async ({ catch_up, made, skipped }) => {
  const { at, schedule } = await aSchedule({ catch_up })
  await at('14:20')
  expect(await schedule()).toMatchObject({ made, skipped, next_at: '2026-11-15T15:00:00.000Z' })
})

test('asked for by a person, it runs at once, and once for each time they ask', async () => {
  const { fleet, at, copies, schedule, last } = await aSchedule()
  await runSchedule(fleet, ASK, 'm1')
  await runSchedule(fleet, ASK, 'm1')
  await at('09:31')
  await change(fleet, 'missions', await last(), { status: 'done' })
  await at('09:32')
  expect(await copies()).toHaveLength(2)
  expect((await schedule()).waiting).toEqual([])
})

test('so many wait, and no more', async () => {
  const { fleet } = await aSchedule()
  for (let n = 0; n < 20; n++) await runSchedule(fleet, ASK, 'm1')
  await expect(runSchedule(fleet, ASK, 'm1')).rejects.toThrow('20 copies already wait for the one that runs.')
})

test('switched off it makes nothing, nor what waited', async () => {
  const { fleet, at, copies } = await aSchedule()
  await runSchedule(fleet, ASK, 'm1')
  await setSchedule(fleet, ASK, { of: 'mission', id: 'm1' }, hourly({ enabled: false }))
  await at('10:00')
  expect(await copies()).toEqual([])
})

test('a schedule whose mission is gone is switched off, and says why; the others keep their time', async () => {
  const { fleet, at, schedule, copies } = await aSchedule()
  await keep(fleet, 'missions', aMission({ id: 'm2', status: 'done' }))
  await setSchedule(fleet, ASK, { of: 'mission', id: 'm2' }, hourly())
  const { version } = (await fleet.store.get('missions', 'm1'))!
  await fleet.store.commit({ changes: [{ remove: 'missions', id: 'm1', expects: version }] })
  await at('10:00')
  expect(await schedule()).toMatchObject({ enabled: false, problem: 'There is no mission "m1".', waiting: [] })
  expect(await copies()).toMatchObject([{ scheduled: { by: 'm2' } }])
})

test('a fault in one schedule is its own, and the others keep their time', async () => {
  const { fleet, clock, copies } = await aSchedule()
  await keep(fleet, 'missions', aMission({ id: 'm2', status: 'done' }))
  await setSchedule(fleet, ASK, { of: 'mission', id: 'm2' }, hourly())
  const { get } = fleet.store
  fleet.store.get = ((collection: 'missions', id: string) =>
    id === 'm1' && collection === 'missions'
      ? Promise.reject(new Error('The disk is full.'))
      : get.call(fleet.store, collection, id)) as typeof get
  const faults: string[] = []
  const attempt: Desk['attempt'] = (ref, work) => work().catch(() => void faults.push(ref))
  clock.now = '2026-11-15T10:00:00.000Z'
  await new Schedules(fleet, { ...aDesk(), attempt }).pass()
  expect(faults).toEqual(['schedules/m1'])
  expect(await copies()).toMatchObject([{ scheduled: { by: 'm2' } }])
})

test('removed in the moment its copy would be made, it makes none', async () => {
  const { fleet, at, copies } = await aSchedule()
  meanwhile(fleet, () => removeSchedule(fleet, ASK, 'm1'))
  await at('10:00')
  expect(await copies()).toEqual([])
})

test('a workflow is copied with all its stages, as if nothing of it had run', async () => {
  const { fleet, at } = await aSchedule()
  const stages = [{ name: 'a', prompt: 'make', agent: 'shell' }]
  const asked = { name: 'flow', project_id: 'p1', task: 'the task', stages, tags: ['x'], base_ref: null }
  const { id } = (await createWorkflow(fleet, ASK, asked)).value
  const [stage] = (await planOf(fleet, id)).stages
  const definition = await fleet.blobs.keep(JSON.stringify([{ ...stage, generation: 3 }]))
  await change(fleet, 'workflows', id, { status: 'done', over: 1, definition })
  await setSchedule(fleet, ASK, { of: 'workflow', id }, hourly())
  await at('10:00')
  const copy = await read(fleet, 'workflows', (await read(fleet, 'schedules', id)).last!.copy_id)
  expect(copy).toMatchObject({ name: 'flow', status: 'making', over: 0, tags: ['x'], stages: 1 })
  expect(JSON.parse(await fleet.blobs.read(copy.definition))).toEqual([{ ...stage, generation: 0 }])
})

test('the reactor is to wake when the next time comes', async () => {
  const { fleet } = await aSchedule()
  const waits: number[] = []
  await new Schedules(fleet, { ...aDesk(), passIn: ms => waits.push(ms) }).pass()
  expect(waits).toEqual([30 * 60_000])
})

test.each<[string, Partial<ScheduleSettings>, string]>([
  ['a rule without a date', { cron: '0 0 30 2 *' }, 'cron: no date ever matches it'],
  ['a rule of nothing', { cron: 'often' }, 'cron: '],
  ['a place nobody knows', { time_zone: 'Moon/Crater' }, 'time_zone: "Moon/Crater" is not a time zone'],
])('%s is refused, and the schedule stays as it was', async (_, settings, words) => {
  const { fleet, schedule } = await aSchedule()
  const before = await schedule()
  await expect(setSchedule(fleet, ASK, { of: 'mission', id: 'm1' }, hourly(settings))).rejects.toThrow(words)
  expect(await schedule()).toEqual(before)
})

test('what could not start is told when it is scheduled, not when nobody looks', async () => {
  const { fleet } = await aSchedule()
  await keep(fleet, 'missions', aMission({ id: 'm2', agent: 'gemini' }))
  await expect(setSchedule(fleet, ASK, { of: 'mission', id: 'm2' }, hourly())).rejects.toThrow('is not installed.')
  expect((await eventsOf(fleet)).filter(({ kind }) => kind === 'scheduled')).toHaveLength(1)
})

test('times are those of the place, also where its clock changes', async () => {
  const times = await cronTimesOf({ cron: '30 8 * * *', time_zone: 'Europe/Berlin' })
  expect(times.after('2026-10-24T07:00:00.000Z')).toBe('2026-10-25T07:30:00.000Z')
  expect(times.after('2026-10-23T07:00:00.000Z')).toBe('2026-10-24T06:30:00.000Z')
  expect(times.upTo('2026-10-25T07:30:00.000Z')).toBe('2026-10-25T07:30:00.000Z')
  expect(times.upTo('2026-10-25T07:29:59.000Z')).toBe('2026-10-24T06:30:00.000Z')
})
