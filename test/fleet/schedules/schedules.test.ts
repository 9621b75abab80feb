import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { MissionSettings } from '../../../src/domain/records/mission.ts'
import { ProjectSettings } from '../../../src/domain/records/project.ts'
import { ScheduleSettings } from '../../../src/domain/records/schedule.ts'
import { type Fleet, makeFleet } from '../../../src/fleet/fleet.ts'
import { createMission } from '../../../src/fleet/missions/missions.ts'
import { createProject } from '../../../src/fleet/projects/projects.ts'
import { aDesk } from '../../../src/fleet/reactor.testkit.ts'
import { all, current, put } from '../../../src/fleet/records.ts'
import { runSchedule, Schedules, setSchedule } from '../../../src/fleet/schedules/scheduler.ts'
import { aRepository } from '../../../src/git/testkit.ts'
import { openHome } from '../../../src/platform/home.ts'
import { memoryKeys } from '../../../src/platform/keys.ts'
import { memoryStore } from '../../../src/store/index.ts'
import { eventually } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'

const ask = { operation: 'test', actor: 'person' }

describe('with a clock of our own', () => {
  const undo: (() => void | Promise<void>)[] = []
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
  })

  async function aClock(start: string): Promise<{
    fleet: Fleet
    scheduler: Schedules
    template(rule: object): Promise<string>
    cronTimesOf(id: string): Promise<string[]>
    /** Moves the clock from one due time to the next, and ends the copies that were made. */
    goOn(until: string): Promise<void>
    at: { now: string }
  }> {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'flotilla-clock-')))
    const repo = await aRepository()
    undo.push(
      () => rmSync(root, { recursive: true, force: true }),
      () => repo.remove(),
    )
    const at = { now: start }
    const fleet = makeFleet({
      home: openHome(join(root, 'home')),
      keys: memoryKeys(),
      store: memoryStore(),
      environment: { PATH: process.env.PATH },
      now: () => at.now,
    })
    const project = await createProject(fleet, ask, { ...ProjectSettings.parse({ name: 'p' }), path: repo.path })
    const scheduler = new Schedules(fleet, aDesk())
    const made = async (id: string) =>
      (await Array.fromAsync(all(fleet, 'missions', 'project', [project.value.id]))).filter(
        ({ value }) => value.scheduled?.by === id,
      )
    return {
      fleet,
      scheduler,
      at,
      async template(rule) {
        const fields = { ...MissionSettings.parse({ title: 'again', agent: 'shell' }), detailed_prompt: 'true' }
        const { value } = await createMission(fleet, ask, project.value.id, fields, false)
        await setSchedule(fleet, ask, { of: 'mission', id: value.id }, ScheduleSettings.parse(rule))
        return value.id
      },
      cronTimesOf: async id => (await made(id)).map(({ value }) => value.scheduled!.cron_time).sort(),
      async goOn(until) {
        for (;;) {
          const [next] = (await fleet.store.find('schedules', { index: 'due', limit: 1 })).items
          if (!next?.value.next_at || next.value.next_at > until) break
          at.now = next.value.next_at
          await scheduler.pass()
          const { last } = (await current(fleet, 'schedules', next.value.id)).value
          const { value, version } = await current(fleet, 'missions', last!.copy_id)
          await fleet.store.commit({ changes: [put('missions', { ...value, status: 'done' }, version)] })
        }
        at.now = until
      },
    }
  }

  test('a year in two time zones: every cron time once, also where the clock is put forward and back', async () => {
    const clock = await aClock('2026-01-01T00:00:00.000Z')
    const berlin = await clock.template({ cron: '30 2 * * *', time_zone: 'Europe/Berlin' })
    const newYork = await clock.template({ cron: '0 9 * * 1-5', time_zone: 'America/New_York' })
    await clock.goOn('2027-01-01T00:00:00.000Z')

    const nights = await clock.cronTimesOf(berlin)
    const days = nights.map(time => new Date(time).toLocaleDateString('en-CA', { timeZone: 'Europe/Berlin' }))
    expect(nights).toHaveLength(365)
    expect(new Set(days).size).toBe(365)
    // If 2:30 does not exist, the run is at the next possible time. If it exists twice, the first one counts.
    expect(nights.filter(time => time.startsWith('2026-03-29') || time.startsWith('2026-10-25'))).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-10-25T00:30:00.000Z',
    ])
    const mornings = await clock.cronTimesOf(newYork)
    expect(mornings).toHaveLength(weekdaysOf(2026))
    const hours = mornings.map(time =>
      new Date(time).toLocaleTimeString('en-GB', { timeZone: 'America/New_York', timeStyle: 'short' }),
    )
    expect(new Set(hours)).toEqual(new Set(['09:00']))
  })

  test('asked again and again in the same moment, one copy is made', async () => {
    const clock = await aClock('2026-01-01T00:00:00.000Z')
    const id = await clock.template({ cron: '@hourly', time_zone: 'UTC' })
    clock.at.now = '2026-01-01T01:00:00.500Z'
    const others = Array.from({ length: 5 }, () => new Schedules(clock.fleet, aDesk()))
    await Promise.all([clock.scheduler, ...others].map(each => each.pass()))
    expect(await clock.cronTimesOf(id)).toEqual(['2026-01-01T01:00:00.000Z'])
  })

  test('run twice in one moment, two copies are made, one after the other', async () => {
    const clock = await aClock('2026-01-01T00:00:00.000Z')
    const id = await clock.template({ cron: '@yearly', time_zone: 'UTC' })
    for (let n = 0; n < 2; n++) await runSchedule(clock.fleet, ask, id)
    for (let n = 0; n < 2; n++) {
      await clock.scheduler.pass()
      const { last } = (await current(clock.fleet, 'schedules', id)).value
      const { value, version } = await current(clock.fleet, 'missions', last!.copy_id)
      await clock.fleet.store.commit({ changes: [put('missions', { ...value, status: 'done' }, version)] })
    }
    expect(new Set(await clock.cronTimesOf(id)).size).toBe(2)
    expect((await current(clock.fleet, 'schedules', id)).value).toMatchObject({ made: 2, waiting: [] })
  })

  test('a time that comes twice, because a clock was put back and the rule written again, is made once', async () => {
    const clock = await aClock('2026-01-01T00:00:00.000Z')
    const rule = { cron: '@hourly', time_zone: 'UTC' }
    const id = await clock.template(rule)
    await clock.goOn('2026-01-01T01:30:00.000Z')
    clock.at.now = '2026-01-01T00:30:00.000Z'
    await setSchedule(clock.fleet, ask, { of: 'mission', id }, ScheduleSettings.parse(rule))
    await clock.goOn('2026-01-01T02:30:00.000Z')
    expect(await clock.cronTimesOf(id)).toEqual(['2026-01-01T01:00:00.000Z', '2026-01-01T02:00:00.000Z'])
  })

  test('switched off, times that waited behind the last copy are not made any more', async () => {
    const clock = await aClock('2026-01-01T00:00:00.000Z')
    const rule = { cron: '@hourly', time_zone: 'UTC', overlap: 'queue' }
    const id = await clock.template(rule)
    for (const hour of ['01', '02', '03']) {
      clock.at.now = `2026-01-01T${hour}:00:00.000Z`
      await clock.scheduler.pass()
    }
    expect((await current(clock.fleet, 'schedules', id)).value.waiting).toHaveLength(2)
    const off = ScheduleSettings.parse({ ...rule, enabled: false })
    await setSchedule(clock.fleet, ask, { of: 'mission', id }, off)
    const { last } = (await current(clock.fleet, 'schedules', id)).value
    const { value, version } = await current(clock.fleet, 'missions', last!.copy_id)
    await clock.fleet.store.commit({ changes: [put('missions', { ...value, status: 'done' }, version)] })
    await clock.scheduler.pass()
    expect(await clock.cronTimesOf(id)).toEqual(['2026-01-01T01:00:00.000Z'])
    await runSchedule(clock.fleet, ask, id)
    await clock.scheduler.pass()
    expect(await clock.cronTimesOf(id)).toHaveLength(2)
  })

  test('one that cannot be kept is switched off and says why; the others go on', async () => {
    const clock = await aClock('2026-01-01T00:00:00.000Z')
    const broken = await clock.template({ cron: '@hourly', time_zone: 'UTC' })
    const sound = await clock.template({ cron: '@hourly', time_zone: 'UTC' })
    const { value, version } = await current(clock.fleet, 'schedules', broken)
    // As if an older or newer program had written it.
    const damaged = { ...value, cron: 'every now and then' }
    await clock.fleet.store.commit({ changes: [put('schedules', damaged, version)] })
    clock.at.now = '2026-01-01T01:00:00.000Z'
    await clock.scheduler.pass()

    expect(await clock.cronTimesOf(sound)).toHaveLength(1)
    expect((await current(clock.fleet, 'schedules', broken)).value).toMatchObject({
      enabled: false,
      problem: expect.stringContaining('cron'),
    })
  })
})

const weekdaysOf = (year: number): number =>
  Array.from({ length: 365 }, (_, day) => new Date(Date.UTC(year, 0, 1 + day)).getUTCDay()).filter(
    day => day > 0 && day < 6,
  ).length

describe('on a real server', () => {
  test('set, listed, run, switched off, taken away; a bad rule is refused and makes nothing', async () => {
    const { fleet, project } = await aScene()
    const bad = await fleet.fleetCommand([
      'call',
      'create_mission',
      JSON.stringify({
        project_id: project.id,
        title: 'x',
        agent: 'shell',
        prompt: 'true',
        schedule_cron: '61 * * * *',
      }),
    ])
    expect(bad).toMatchObject({ code: 2, stderr: expect.stringContaining('minute: 61') })
    const template = await fleet.call<{ id: string }>('create_mission', {
      project_id: project.id,
      title: 'count',
      prompt: 'echo once >> count.txt',
      schedule_cron: '0 3 1 1 *',
      schedule_time_zone: 'Europe/Berlin',
    })
    const { schedules } = await fleet.call<{ schedules: { id: string; next_times: string[] }[] }>('list_schedules')
    expect(schedules.map(each => each.id)).toEqual([template.id])
    expect(schedules[0]!.next_times).toHaveLength(5)
    expect(schedules[0]!.next_times.every(time => time.endsWith('-01-01T02:00:00.000Z'))).toBe(true)

    await fleet.call('run_schedule', { schedule_id: template.id })
    const made = () => fleet.call<{ missions: { id: string; scheduled: unknown }[] }>('list_missions')
    const copy = await eventually('the copy', async () => (await made()).missions.find(each => each.scheduled))
    await fleet.until(copy!.id, 'done')
    expect((await fleet.show(template.id)).status).toBe('draft')

    const off = await fleet.fleetCommand(['schedule', 'disable', template.id])
    expect(off.stdout + off.stderr).toContain('switched off')
    expect((await fleet.fleetCommand(['schedule', 'remove', template.id])).code).toBe(0)
    expect((await fleet.fleetCommand(['schedule', 'list'])).stdout).toContain('There are no schedules')
  })

  test('a workflow is run again as a whole; one that overlaps makes room for the next', async () => {
    // Longer than the old copy takes to end.
    const { fleet, project, gate } = await aScene({ env: { FLEET_STOP_GRACE: '20' } })
    const work = gate('work')
    const log = join(fleet.root, 'ran')
    const made = await fleet.call<{ id: string }>('create_workflow', {
      project_id: project.id,
      stages: [
        {
          name: 'only',
          prompt: `trap 'sleep 1; echo ended >> "${log}"; exit 1' TERM; echo begun >> "${log}"; ${work.wait}; echo done`,
        },
      ],
    })
    const all = async () =>
      (await fleet.call<{ workflows: { id: string; status: string }[] }>('list_workflows', {})).workflows
    const settings = { workflow_id: made.id, cron: '@yearly', overlap: 'replace' }
    const schedule = await fleet.call<{ title: string; of: string }>('schedule_workflow', settings)
    expect(schedule.of).toBe('workflow')
    await fleet.call('run_schedule', { schedule_id: made.id })
    await eventually('the copy', async () => (await all()).length === 2)
    const said = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [])
    await eventually('both are at work', () => said().length === 2)
    // As if its time had come while the copy is still running.
    const { value, version } = await current(fleet.fleet, 'schedules', made.id)
    const due = { ...value, next_at: fleet.fleet.now(), catch_up: 'once' as const }
    await fleet.fleet.store.commit({ changes: [put('schedules', due, version)] })
    const statuses = async () => (await all()).map(({ status }) => status).sort()
    await eventually('the next copy', async () => (await statuses()).join() === 'cancelled,running,running')
    // The template and its first copy. The next one starts once that copy has stopped.
    await eventually('the next copy is at work', () => said().filter(line => line === 'begun').length === 3)
    expect(said().slice(0, 4)).toEqual(['begun', 'begun', 'ended', 'begun'])
    work.open()
    await eventually('both are done', async () => (await all()).filter(({ status }) => status === 'done').length === 2)
  })

  test('a cron time that passes while the server is dead gets one copy from the next server', async () => {
    const { fleet, project } = await aScene()
    const template = await fleet.call<{ id: string }>('create_mission', {
      project_id: project.id,
      title: 'count',
      prompt: 'echo once >> count.txt',
    })
    await fleet.call('schedule_mission', { mission_id: template.id, cron: '@yearly', catch_up: 'once' })
    await fleet.kill()
    const { value, version } = await current(fleet.fleet, 'schedules', template.id)
    const passed = { ...value, next_at: '2020-01-01T00:00:00.000Z' }
    await fleet.fleet.store.commit({ changes: [put('schedules', passed, version)] })
    await fleet.start()
    await eventually('the copy', async () => {
      const { missions } = await fleet.call<{ missions: { status: string; scheduled: unknown }[] }>('list_missions')
      return missions.filter(each => each.scheduled).every(each => each.status === 'done') && missions.length > 1
    })
    await fleet.kill()
    await fleet.start()
    const { missions } = await fleet.call<{ missions: { scheduled: unknown }[] }>('list_missions')
    expect(missions.filter(each => each.scheduled)).toHaveLength(1)
  })
})
