import * as z from 'zod'
import { Event } from '../domain/records/event.ts'
import { type Mission, MissionSettings } from '../domain/records/mission.ts'
import { ScheduleSettings } from '../domain/records/schedule.ts'
import { forkMission } from '../fleet/missions/forks.ts'
import * as missionsOf from '../fleet/missions/missions.ts'
import { lookUp } from '../fleet/records.ts'
import { sendBack } from '../fleet/review/comments.ts'
import { slotsOf } from '../fleet/schedules/cron-times.ts'
import { setSchedule } from '../fleet/schedules/scheduler.ts'
import { comments } from './comments.ts'
import { ask, edits, given, Paging, ProjectRef, promptOf, Ref } from './inputs.ts'
import { listing, MissionList } from './listing.ts'
import { type Caller, type Context, command, query } from './operation.ts'
import { scheduleFrom, TimeZone } from './schedules.ts'
import { MissionDetail, MissionView, missionDetail, missionView, missionViews } from './views.ts'

const WithMission = z.object({ mission_id: Ref })
const Prompt = {
  detailed_prompt: z.string().max(1_000_000).optional(),
  prompt: z.string().max(1_000_000).optional().describe('the same as detailed_prompt'),
}

const ownMission = (caller: Extract<Caller, { kind: 'session' }>, input: { mission_id: string }): boolean =>
  caller.mission_id === input.mission_id

/** They are settings of the mission, and stay with it. */
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
  message: z.string().max(200_000).optional().describe('what to tell the agent, this time only'),
})

/** The commands that only name a mission and say what is to become of it. */
function onMission<const N extends string, I extends z.ZodObject<{ mission_id: typeof Ref }>>(
  name: N,
  summary: string,
  input: I,
  run: (context: Context, id: string, input: Omit<z.infer<I>, 'mission_id'>) => Promise<{ value: Mission }>,
  more: { inServer?: boolean } = {},
) {
  return command({
    ...more,
    name,
    summary,
    http: `POST /api/missions/:mission_id/${name.replace(/_mission$/, '').replaceAll('_', '-')}`,
    needsFleet: true,
    input,
    output: MissionView,
    run: async (context, { mission_id, ...rest }) => {
      const { value } = await lookUp(context.fleet, 'missions', mission_id as string)
      return missionView(context.fleet, (await run(context, value.id, rest as never)).value, { whole: true })
    },
  })
}

const wish = ({ message, ...override }: Omit<z.infer<typeof WithMessage>, 'mission_id'>): missionsOf.Wish => ({
  message,
  override: given(override),
})

export const missions = [
  command({
    name: 'create_mission',
    summary: 'Describe a piece of work for one agent',
    http: 'POST /api/missions',
    input: MissionSettings.extend({
      project_id: ProjectRef,
      ...Prompt,
      auto_dispatch: z.boolean().default(false).describe('queue it at once; it starts when what it depends on is done'),
      schedule_cron: ScheduleSettings.shape.cron.optional().describe('copy it again and again, as this rule says'),
      schedule_time_zone: TimeZone,
    }),
    output: MissionView,
    run: async (context, input) => {
      const { project_id, detailed_prompt, prompt, auto_dispatch, schedule_cron, schedule_time_zone, ...settings } =
        input
      const schedule = schedule_cron && scheduleFrom({ cron: schedule_cron, time_zone: schedule_time_zone })
      // A rule that cannot be kept makes no mission.
      if (schedule) await slotsOf(schedule)
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
    summary: 'Show a mission with its sessions, report, evidence, children and comments',
    http: 'GET /api/missions/:mission_id',
    input: WithMission,
    output: MissionDetail,
    agentMay: ownMission,
    run: async ({ fleet }, { mission_id }) => missionDetail(fleet, (await lookUp(fleet, 'missions', mission_id)).value),
  }),
  command({
    name: 'update_mission',
    summary: 'Change a mission; what is not named stays as it is',
    http: 'PUT /api/missions/:mission_id',
    input: edits(MissionSettings).extend({ ...WithMission.shape, ...Prompt }),
    output: MissionView,
    run: async (context, { mission_id, detailed_prompt, prompt, ...fields }) => {
      const { value } = await lookUp(context.fleet, 'missions', mission_id)
      const text =
        detailed_prompt === undefined && prompt === undefined
          ? {}
          : { detailed_prompt: promptOf({ detailed_prompt, prompt }) }
      const updated = await missionsOf.updateMission(context.fleet, ask(context, 'update_mission'), value.id, {
        ...given(fields),
        ...text,
      })
      return missionView(context.fleet, updated.value, { whole: true })
    },
  }),
  command({
    name: 'delete_mission',
    summary: 'Forget a mission; its work stays in the repository under refs/fleet',
    http: 'DELETE /api/missions/:mission_id',
    inServer: true,
    input: WithMission.extend({
      discard: z.boolean().default(false).describe('also what of its work no commit holds'),
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
    'Send an agent to work on a mission; settings named here stay with the mission',
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
  ),
  onMission(
    'resume_mission',
    'Go on in the same worktree and conversation; settings named here stay with the mission',
    WithMessage,
    (context, id, input) => missionsOf.resumeMission(context.fleet, ask(context, 'resume_mission'), id, wish(input)),
  ),
  onMission(
    'retry_mission',
    'Start over on a new branch; the old one is kept, and settings named here stay with the mission',
    WithMessage,
    (context, id, input) => missionsOf.retryMission(context.fleet, ask(context, 'retry_mission'), id, wish(input)),
  ),
  onMission(
    'reopen_mission',
    'Send a done mission back to work; settings named here stay with the mission',
    WithMessage,
    (context, id, input) => missionsOf.reopenMission(context.fleet, ask(context, 'reopen_mission'), id, wish(input)),
  ),
  onMission(
    'fork_mission',
    'Begin a second mission with the work and a copy of the conversation of this one, to compare two ways',
    WithMessage.extend({
      fresh: z.boolean().default(false).describe('begin a new conversation with a written hand-over instead'),
    }),
    (context, id, { fresh, ...input }) =>
      forkMission(context.fleet, ask(context, 'fork_mission'), id, wish(input), fresh),
  ),
  onMission(
    'send_back_mission',
    'Tell the agent of finished work all remarks it was not told yet, with a message, and let it go on in its conversation; done work is reopened',
    WithMessage,
    (context, id, input) => sendBack(context.fleet, ask(context, 'send_back_mission'), id, wish(input)),
  ),
  onMission(
    'reject_mission',
    'Decide that finished work does not land; it is kept on its branch, and the mission is cancelled',
    WithMission.extend({ reason: z.string().max(4000).optional() }),
    (context, id, { reason }) => missionsOf.rejectMission(context.fleet, ask(context, 'reject_mission'), id, reason),
  ),
  onMission(
    'reconsider_mission',
    'Take a rejection back: the work waits for review again',
    WithMission,
    (context, id) => missionsOf.reconsiderMission(context.fleet, ask(context, 'reconsider_mission'), id),
  ),
  onMission('cancel_mission', 'Stop a mission; its work is kept on its branch', WithMission, (context, id) =>
    missionsOf.cancelMission(context.fleet, ask(context, 'cancel_mission'), id),
  ),
  onMission(
    'land_mission',
    'Bring the work you were shown onto the base branch',
    WithMission.extend({
      expected: z
        .string()
        .regex(/^[0-9a-fA-F]{7,64}$/, 'is not a commit: give its id, or at least its first 7 letters')
        .optional()
        .describe(
          'the id of the candidate you were shown, or its beginning: see get_review or diff_mission. Without it, or where the work is another one by now, the answer is 409 with the id and the files',
        ),
      force: z.boolean().default(false).describe('even though its checks fail'),
    }),
    (context, id, wanted) => missionsOf.landMission(context.fleet, ask(context, 'land_mission'), id, wanted),
    { inServer: true },
  ),
  onMission('undo_mission', 'Take a landed mission back with a revert commit', WithMission, (context, id) =>
    missionsOf.undoMission(context.fleet, ask(context, 'undo_mission'), id),
  ),
  query({
    name: 'list_children',
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
    summary: 'What happened to a mission, oldest first',
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
