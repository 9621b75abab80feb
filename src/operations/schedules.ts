import * as z from 'zod'
import { InvalidInput } from '../domain/errors.ts'
import { Schedule, ScheduleSettings } from '../domain/records/schedule.ts'
import { cronInWords } from '../domain/rules/cron-words.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { lookUp } from '../fleet/records.ts'
import { cronTimesOf } from '../fleet/schedules/cron-times.ts'
import { removeSchedule, runSchedule, setSchedule } from '../fleet/schedules/scheduler.ts'
import { ask, edits, Paging, ProjectRef, Ref } from './inputs.ts'
import { requireNeeded } from './needed.ts'
import { command, query } from './operation.ts'

const NEXT_TIMES = 5

const ScheduleView = Schedule.extend({
  title: z.string().describe('the title of the mission or workflow it copies'),
  in_words: z.string().describe('when it runs'),
  next_times: z.array(z.string()).describe('the next five times; empty if it is disabled'),
  history: z
    .array(z.object({ cron_time: z.string(), copy_id: z.string(), status: z.string() }))
    .describe('the newest copies that still exist, the last one first'),
})
type ScheduleView = z.infer<typeof ScheduleView>

async function scheduleView(fleet: Fleet, schedule: Schedule): Promise<ScheduleView> {
  const title =
    schedule.of === 'mission'
      ? (await fleet.store.get('missions', schedule.id))?.value.title
      : (await fleet.store.get('workflows', schedule.id))?.value.name
  const { enabled, next_at, cron } = schedule
  return {
    ...schedule,
    title: title ?? '',
    in_words: cronInWords(cron),
    next_times: enabled && next_at ? [next_at, ...(await timesAfter(schedule, next_at, NEXT_TIMES - 1))] : [],
    history: await historyOf(fleet, schedule),
  }
}

async function historyOf(fleet: Fleet, { of, recent }: Schedule): Promise<ScheduleView['history']> {
  const copies = await Promise.all(
    recent.map(async copied => {
      const copy = await fleet.store.get(of === 'mission' ? 'missions' : 'workflows', copied.copy_id)
      return copy ? [{ ...copied, status: copy.value.status }] : []
    }),
  )
  return copies.flat()
}

async function timesAfter(rule: Pick<Schedule, 'cron' | 'time_zone'>, moment: string, most: number): Promise<string[]> {
  const cronTimes = await cronTimesOf(rule)
  const times: string[] = []
  for (let next = cronTimes.after(moment); next && times.length < most; next = cronTimes.after(next)) times.push(next)
  return times
}

/** The time zone of the server, unless a person names another. */
const hereZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone
export const TimeZone = ScheduleSettings.shape.time_zone
  .optional()
  .describe('such as Europe/Berlin; empty: the time zone of the machine the fleet runs on')

export const scheduleFrom = (settings: z.input<typeof ScheduleInput>): ScheduleSettings =>
  ScheduleSettings.parse({ ...settings, time_zone: settings.time_zone ?? hereZone() })
const ScheduleInput = ScheduleSettings.extend({ time_zone: TimeZone })

const WithSchedule = z.object({ schedule_id: Ref.describe('the id of the mission or workflow it copies') })

export const schedules = [
  command({
    name: 'schedule_mission',
    may: 'schedules.write',
    mcp: 'planning',
    summary: 'Copy a mission repeatedly by a cron rule',
    http: 'POST /api/missions/:mission_id/schedule',
    needsFleet: true,
    input: ScheduleInput.extend({ mission_id: Ref }),
    output: ScheduleView,
    run: async (context, { mission_id, ...settings }) => {
      const { value: mission } = await lookUp(context.fleet, 'missions', mission_id)
      requireNeeded(context, mission)
      const asked = ask(context, 'schedule_mission')
      const { value } = await setSchedule(
        context.fleet,
        asked,
        { of: 'mission', id: mission.id },
        scheduleFrom(settings),
      )
      return scheduleView(context.fleet, value)
    },
  }),
  command({
    name: 'schedule_workflow',
    may: 'schedules.write',
    mcp: 'planning',
    summary: 'Run a workflow repeatedly by a cron rule',
    http: 'POST /api/workflows/:workflow_id/schedule',
    needsFleet: true,
    input: ScheduleInput.extend({ workflow_id: Ref }),
    output: ScheduleView,
    run: async (context, { workflow_id, ...settings }) => {
      const { value: workflow } = await lookUp(context.fleet, 'workflows', workflow_id)
      const asked = ask(context, 'schedule_workflow')
      const template = { of: 'workflow' as const, id: workflow.id }
      const { value } = await setSchedule(context.fleet, asked, template, scheduleFrom(settings))
      return scheduleView(context.fleet, value)
    },
  }),
  command({
    name: 'remove_schedule',
    may: 'schedules.write',
    mcp: 'planning',
    summary: 'Remove a schedule; copies already made stay',
    http: 'DELETE /api/schedules/:schedule_id',
    input: WithSchedule,
    output: z.object({ removed: z.string() }),
    run: async (context, { schedule_id }) => {
      const { value } = await lookUp(context.fleet, 'schedules', schedule_id)
      await removeSchedule(context.fleet, ask(context, 'remove_schedule'), value.id)
      return { removed: value.id }
    },
  }),
  command({
    name: 'unschedule_mission',
    may: 'schedules.write',
    mcp: 'planning',
    summary: 'Remove the schedule of a mission; copies already made stay',
    http: 'DELETE /api/missions/:mission_id/schedule',
    input: z.object({ mission_id: Ref }),
    output: z.object({ removed: z.string() }),
    run: async (context, { mission_id }) => {
      const { value } = await lookUp(context.fleet, 'schedules', mission_id)
      await removeSchedule(context.fleet, ask(context, 'unschedule_mission'), value.id)
      return { removed: value.id }
    },
  }),
  query({
    name: 'list_schedules',
    may: 'missions.read',
    mcp: 'planning',
    summary: 'List schedules with the next five times of each',
    http: 'GET /api/schedules',
    input: z.object({ project_id: ProjectRef.optional(), ...Paging }),
    output: z.object({ schedules: z.array(ScheduleView), cursor: z.string().optional() }),
    run: async ({ fleet }, { project_id, limit, cursor }) => {
      const project = project_id && (await lookUp(fleet, 'projects', project_id)).value.id
      const where = project ? { index: 'project', equals: [project] } : { index: 'created' }
      const page = await fleet.store.find('schedules', { ...where, limit, cursor, newestFirst: true })
      return {
        schedules: await Promise.all(page.items.map(item => scheduleView(fleet, item.value))),
        cursor: page.cursor,
      }
    },
  }),
  query({
    name: 'preview_schedule',
    may: 'missions.read',
    mcp: 'planning',
    summary: 'Say in words when a cron rule runs, with its next three times; nothing is saved',
    http: 'GET /api/schedules/preview',
    input: ScheduleSettings.pick({ cron: true }).extend({ time_zone: TimeZone }),
    output: z.object({ in_words: z.string(), time_zone: z.string(), next_times: z.array(z.string()) }),
    run: async ({ fleet }, { cron, time_zone = hereZone() }) => ({
      in_words: cronInWords(cron),
      time_zone,
      next_times: await timesAfter({ cron, time_zone }, fleet.now(), 3),
    }),
  }),
  command({
    name: 'update_schedule',
    may: 'schedules.write',
    mcp: 'planning',
    summary: 'Change, enable or disable a schedule',
    http: 'PUT /api/schedules/:schedule_id',
    needsFleet: true,
    input: edits(ScheduleSettings).extend(WithSchedule.shape),
    output: ScheduleView,
    run: async (context, { schedule_id, ...changes }) => {
      const { value } = await lookUp(context.fleet, 'schedules', schedule_id)
      const given = Object.fromEntries(Object.entries(changes).filter(([, change]) => change !== undefined))
      if (Object.keys(given).length === 0) throw new InvalidInput('schedule', 'has nothing to change')
      const settings = ScheduleSettings.parse({ ...value, ...given })
      const changed = await setSchedule(context.fleet, ask(context, 'update_schedule'), value, settings)
      return scheduleView(context.fleet, changed.value)
    },
  }),
  command({
    name: 'run_schedule',
    may: 'schedules.write',
    mcp: 'planning',
    summary: 'Make a copy now; if the last one is still running, once that is over',
    http: 'POST /api/schedules/:schedule_id/run',
    needsFleet: true,
    input: WithSchedule,
    output: ScheduleView,
    run: async (context, { schedule_id }) => {
      const { value } = await lookUp(context.fleet, 'schedules', schedule_id)
      return scheduleView(
        context.fleet,
        (await runSchedule(context.fleet, ask(context, 'run_schedule'), value.id)).value,
      )
    },
  }),
]
