import * as z from 'zod'
import { Event } from '../domain/records/event.ts'
import { type Mission, MissionSettings } from '../domain/records/mission.ts'
import { ScheduleSettings } from '../domain/records/schedule.ts'
import { Images } from '../domain/records/told.ts'
import { cancelWithSubMissions } from '../fleet/missions/cancelling.ts'
import { forkMission } from '../fleet/missions/forks.ts'
import * as missionsOf from '../fleet/missions/missions.ts'
import { current, lookUp } from '../fleet/records.ts'
import { sendBack } from '../fleet/review/comments.ts'
import { cronTimesOf } from '../fleet/schedules/cron-times.ts'
import { setSchedule } from '../fleet/schedules/scheduler.ts'
import { requireMay } from './authorize.ts'
import { comments } from './comments.ts'
import { ask, edits, given, Paging, ProjectRef, promptOf, Ref } from './inputs.ts'
import { listing, MissionList } from './listing.ts'
import { neededFor, requireHeldBack, requireLandsForAgents, requireNeeded } from './needed.ts'
import { type Caller, type Context, command, type Operation, query } from './operation.ts'
import { scheduleFrom, TimeZone } from './schedules.ts'
import { MissionDetail, MissionView, missionDetail, missionView, missionViews } from './views.ts'

const WithMission = z.object({ mission_id: Ref })
const Prompt = {
  detailed_prompt: z.string().max(1_000_000).optional(),
  prompt: z.string().max(1_000_000).optional().describe('the same as detailed_prompt'),
}

const ownMission = (caller: Extract<Caller, { kind: 'session' }>, input: { mission_id: string }): boolean =>
  caller.mission_id === input.mission_id

/** Settings of the mission; they stay with it. */
const Options = edits(
  MissionSettings.pick({
    agent: true,
    model: true,
    effort: true,
    engine: true,
    max_turns: true,
    max_budget_usd: true,
    timeout_seconds: true,
    context_limit_percent: true,
    allowed_tools: true,
    tool_preset: true,
    landing: true,
    context_mode: true,
  }),
)
const WithMessage = WithMission.extend({
  ...Options.shape,
  message: z.string().max(200_000).optional().describe('a message for the agent, for this session only'),
  images: Images.optional().describe('what the agent is shown with the message; see add_image'),
})

/** Whoever may review sends work back as it is. To change how it is done is to change the mission. */
const neededToSendBack = ({ mission_id: _, message: __, images: ___, ...settings }: z.infer<typeof WithMessage>) => [
  ...neededFor(settings),
  ...(Object.keys(given(settings)).length ? (['missions.run'] as const) : []),
]

/** These decide about finished work. */
const DECIDING: readonly string[] = ['land_mission', 'undo_mission', 'reject_mission', 'reconsider_mission']

function onMission<const N extends string, I extends z.ZodObject<{ mission_id: typeof Ref }>>(
  name: N,
  summary: string,
  input: I,
  run: (context: Context, id: string, input: Omit<z.infer<I>, 'mission_id'>) => Promise<{ value: Mission }>,
  more: Partial<Pick<Operation, 'inServer' | 'mcp'>> = {},
) {
  return command({
    mcp: DECIDING.includes(name) ? 'review' : 'control',
    ...more,
    may: name === 'send_back_mission' ? 'missions.review' : DECIDING.includes(name) ? 'missions.land' : 'missions.run',
    mayAlso: name === 'send_back_mission' ? neededToSendBack : neededFor,
    name,
    summary,
    http: `POST /api/missions/:mission_id/${name.replace(/_mission$/, '').replaceAll('_', '-')}`,
    needsFleet: true,
    input,
    output: MissionView,
    run: async (context, { mission_id, ...rest }) => {
      const { value } = await lookUp(context.fleet, 'missions', mission_id as string)
      await requireHeldBack(context, value, (rest as { landing?: unknown }).landing)
      return missionView(context.fleet, (await run(context, value.id, rest as never)).value, { whole: true })
    },
  })
}

const wish = ({ message, images, ...override }: Omit<z.infer<typeof WithMessage>, 'mission_id'>): missionsOf.Wish => ({
  message,
  images,
  override: given(override),
})

export const missions = [
  command({
    name: 'create_mission',
    may: 'missions.create',
    mcp: { set: 'control', name: 'create_mission_in_full' },
    summary: 'Create a mission: a piece of work for one agent',
    http: 'POST /api/missions',
    input: MissionSettings.extend({
      project_id: ProjectRef,
      ...Prompt,
      auto_dispatch: z.boolean().default(false).describe('queue it at once; it starts when its dependencies are done'),
      schedule_cron: ScheduleSettings.shape.cron.optional().describe('copy it repeatedly by this cron rule'),
      schedule_time_zone: TimeZone,
    }),
    mayAlso: input => [
      ...neededFor(input),
      ...(input.auto_dispatch ? (['missions.run'] as const) : []),
      ...(input.schedule_cron ? (['schedules.write'] as const) : []),
    ],
    output: MissionView,
    run: async (context, input) => {
      const { project_id, detailed_prompt, prompt, auto_dispatch, schedule_cron, schedule_time_zone, ...settings } =
        input
      const schedule = schedule_cron && scheduleFrom({ cron: schedule_cron, time_zone: schedule_time_zone })
      // Check the rule first, so that an invalid one creates no mission.
      if (schedule) await cronTimesOf(schedule)
      const fields = { ...settings, detailed_prompt: promptOf({ detailed_prompt, prompt }) }
      const { value } = await missionsOf.createMission(
        context.fleet,
        ask(context, 'create_mission'),
        project_id,
        fields,
        auto_dispatch,
      )
      if (schedule)
        await setSchedule(context.fleet, ask(context, 'schedule_mission'), { of: 'mission', id: value.id }, schedule)
      return missionView(context.fleet, value, { whole: true })
    },
  }),
  ...listing,
  query({
    name: 'get_mission',
    may: 'missions.read',
    mcp: 'control',
    summary: 'Show a mission with its sessions, report, evidence, children and comments',
    http: 'GET /api/missions/:mission_id',
    input: WithMission,
    output: MissionDetail,
    agentMay: ownMission,
    run: async ({ fleet }, { mission_id }) => missionDetail(fleet, (await lookUp(fleet, 'missions', mission_id)).value),
  }),
  command({
    name: 'update_mission',
    may: 'missions.run',
    mcp: 'control',
    summary: 'Change a mission; fields that are not sent stay as they are',
    http: 'PUT /api/missions/:mission_id',
    input: edits(MissionSettings).extend({ ...WithMission.shape, ...Prompt }),
    mayAlso: neededFor,
    output: MissionView,
    run: async (context, { mission_id, detailed_prompt, prompt, ...fields }) => {
      const { value } = await lookUp(context.fleet, 'missions', mission_id)
      const text =
        detailed_prompt === undefined && prompt === undefined
          ? {}
          : { detailed_prompt: promptOf({ detailed_prompt, prompt }) }
      if ('detailed_prompt' in text) requireNeeded(context, value, fields)
      await requireHeldBack(context, value, fields.landing)
      const updated = await missionsOf.updateMission(context.fleet, ask(context, 'update_mission'), value.id, {
        ...given(fields),
        ...text,
      })
      return missionView(context.fleet, updated.value, { whole: true })
    },
  }),
  command({
    name: 'delete_mission',
    may: 'missions.delete',
    mcp: 'control',
    summary: 'Delete a mission; its work stays in the repository under refs/fleet',
    http: 'DELETE /api/missions/:mission_id',
    inServer: true,
    input: WithMission.extend({
      discard: z.boolean().default(false).describe('also delete work that is in no commit'),
    }),
    output: z.object({ deleted: z.string() }),
    run: async (context, { mission_id, discard }) => {
      const { value } = await lookUp(context.fleet, 'missions', mission_id)
      await missionsOf.deleteMission(context.fleet, ask(context, 'delete_mission'), value.id, discard)
      return { deleted: value.id }
    },
  }),
  onMission(
    'dispatch_mission',
    'Start an agent on a mission; settings given here stay with the mission',
    WithMission.extend({
      ...Options.shape,
      append_system_prompt: z.string().max(20_000).optional().describe('extra instructions, for this session only'),
    }),
    (context, id, { append_system_prompt, ...options }) =>
      missionsOf.dispatchMission(
        context.fleet,
        ask(context, 'dispatch_mission'),
        id,
        wish({ ...options, message: append_system_prompt }),
      ),
    { mcp: { set: 'control', name: 'dispatch_mission_in_full' } },
  ),
  onMission(
    'resume_mission',
    'Continue in the same worktree and conversation; settings given here stay with the mission',
    WithMessage,
    (context, id, input) => missionsOf.resumeMission(context.fleet, ask(context, 'resume_mission'), id, wish(input)),
  ),
  onMission(
    'retry_mission',
    'Start over on a new branch; the old one is kept, and settings given here stay with the mission',
    WithMessage,
    (context, id, input) => missionsOf.retryMission(context.fleet, ask(context, 'retry_mission'), id, wish(input)),
  ),
  onMission(
    'reopen_mission',
    'Send a finished mission back to work; settings given here stay with the mission',
    WithMessage,
    async (context, id, input) => {
      if (input.message || input.images?.length)
        requireNeeded(context, (await current(context.fleet, 'missions', id)).value, input)
      return missionsOf.reopenMission(context.fleet, ask(context, 'reopen_mission'), id, wish(input))
    },
  ),
  onMission(
    'fork_mission',
    'Start a second mission with the work and a copy of the conversation of this one, to compare two ways',
    WithMessage.extend({
      fresh: z.boolean().default(false).describe('start a new conversation with a written hand-over instead'),
    }),
    async (context, id, { fresh, ...input }) => {
      const { value } = await current(context.fleet, 'missions', id)
      // The fork is of no team, whoever has the task.
      requireMay(context.caller, 'missions.run', value.project_id)
      requireNeeded(context, value, input)
      return forkMission(context.fleet, ask(context, 'fork_mission'), id, wish(input), fresh)
    },
  ),
  onMission(
    'send_back_mission',
    'Send finished work back to its agent with all undelivered comments and a message, in the same conversation; done work is reopened',
    WithMessage,
    async (context, id, input) => {
      if (input.message || input.images?.length)
        requireNeeded(context, (await current(context.fleet, 'missions', id)).value, input)
      return sendBack(context.fleet, ask(context, 'send_back_mission'), id, wish(input))
    },
    { mcp: 'review' },
  ),
  onMission(
    'reject_mission',
    'Reject finished work: it does not land, it is kept on its branch, and the mission is cancelled',
    WithMission.extend({ reason: z.string().max(4000).optional() }),
    (context, id, { reason }) => missionsOf.rejectMission(context.fleet, ask(context, 'reject_mission'), id, reason),
  ),
  onMission('reconsider_mission', 'Undo a rejection: the work waits for review again', WithMission, (context, id) =>
    missionsOf.reconsiderMission(context.fleet, ask(context, 'reconsider_mission'), id),
  ),
  command({
    name: 'cancel_mission',
    may: 'missions.run',
    mcp: { set: 'control', name: 'cancel_mission_in_full' },
    summary: 'Cancel a mission and its sub-missions; their work is kept on their branches',
    http: 'POST /api/missions/:mission_id/cancel',
    needsFleet: true,
    input: WithMission.extend({
      sub_missions: z.boolean().default(true).describe('false: its sub-missions keep running'),
    }),
    output: MissionView.extend({
      sub_missions_cancelled: z.number().int().describe('how many running sub-missions were cancelled'),
    }),
    run: async (context, { mission_id, sub_missions }) => {
      const { fleet } = context
      const { id } = (await lookUp(fleet, 'missions', mission_id)).value
      const asked = ask(context, 'cancel_mission')
      const { cancelled, subMissions } = sub_missions
        ? await cancelWithSubMissions(fleet, asked, id)
        : { cancelled: await missionsOf.requestCancel(fleet, asked, id), subMissions: 0 }
      return {
        ...(await missionView(fleet, cancelled.value, { whole: true })),
        sub_missions_cancelled: subMissions,
      }
    },
  }),
  onMission(
    'land_mission',
    'Land the reviewed work on the base branch',
    WithMission.extend({
      expected: z
        .string()
        .regex(/^[0-9a-fA-F]{7,64}$/, 'is not a commit: give its id, or at least its first 7 characters')
        .optional()
        .describe(
          'the id of the candidate you reviewed, or its beginning: see get_review or diff_mission. Without it, or if the work has changed since, the answer is 409 with the id and the files',
        ),
      force: z.boolean().default(false).describe('land even if its checks fail'),
    }),
    async (context, id, wanted) => {
      await requireLandsForAgents(context, id)
      return missionsOf.requestLanding(context.fleet, ask(context, 'land_mission'), id, wanted)
    },
    { inServer: true },
  ),
  onMission('undo_mission', 'Undo a landed mission with a revert commit', WithMission, (context, id) =>
    missionsOf.requestUndo(context.fleet, ask(context, 'undo_mission'), id),
  ),
  query({
    name: 'list_children',
    may: 'missions.read',
    mcp: 'control',
    summary: 'List the sub-missions of a mission',
    http: 'GET /api/missions/:mission_id/children',
    input: WithMission.extend(Paging),
    output: MissionList,
    agentMay: ownMission,
    run: async ({ fleet }, { mission_id, limit, cursor }) => {
      const { value } = await lookUp(fleet, 'missions', mission_id)
      const page = await fleet.store.find('missions', { index: 'parent', equals: [value.id], limit, cursor })
      const children = page.items.map(item => item.value)
      return { missions: await missionViews(fleet, children), cursor: page.cursor }
    },
  }),
  query({
    name: 'list_mission_events',
    may: 'missions.read',
    mcp: 'history',
    summary: 'List the events of a mission, oldest first',
    http: 'GET /api/missions/:mission_id/events',
    input: WithMission.extend({ limit: Paging.limit, after: z.string().optional() }),
    output: z.object({ events: z.array(Event), cursor: z.string() }),
    agentMay: ownMission,
    run: async ({ fleet }, { mission_id, limit, after }) => {
      const { value } = await lookUp(fleet, 'missions', mission_id)
      const { events, cursor } = await fleet.store.events({ mission_id: value.id, limit, after })
      return { events, cursor }
    },
  }),
  ...comments,
]
