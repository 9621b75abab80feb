import * as z from 'zod'
import { Status } from '../domain/records/mission.ts'
import {
  estimateOf,
  levelsOf,
  MAX_PLANNED,
  PLAN_STATUSES,
  Plan,
  PlanEstimate,
  PlannedMission,
} from '../domain/records/plan.ts'
import { LandingPolicy } from '../domain/records/project.ts'
import { headOf } from '../domain/text.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { awaitMission } from '../fleet/missions/await.ts'
import { followUp } from '../fleet/missions/follow-ups.ts'
import { approvePlan, editPlan, missionIdOf, plannedIn, rejectPlan, requestPlan } from '../fleet/planning/plans.ts'
import { newProject, type Place, projectAt, takeBack } from '../fleet/projects/new-projects.ts'
import { lookUp } from '../fleet/records.ts'
import { ask, Paging, ProjectRef, Ref } from './inputs.ts'
import { type Context, command, query } from './operation.ts'
import { MissionView, missionView, Waiting } from './views.ts'

export const PlanSummary = Plan.omit({ goal: true, missions: true }).extend({
  goal: z.string().describe('in lists only its beginning'),
})
const PlanView = PlanSummary.extend({
  missions: z.array(
    PlannedMission.extend({
      mission_id: z.string().nullable().describe('once it is approved'),
      status: Status.nullable().describe('of that mission'),
    }),
  ),
  steps: z
    .array(z.array(z.string()))
    .describe('the keys of the missions; each step needs only what stands in those before'),
  estimate: PlanEstimate,
  waits_for: z.array(Waiting).describe('what keeps the planner from starting or going on'),
})
export type PlanView = z.infer<typeof PlanView>

export function planSummary({ goal, missions, ...shown }: Plan): z.infer<typeof PlanSummary> {
  return { ...shown, goal: headOf(goal) }
}

async function planView(fleet: Fleet, plan: Plan): Promise<PlanView> {
  const planned = await plannedIn(fleet, plan)
  const planner = plan.status === 'planning' && (await fleet.store.get('missions', plan.mission_id))
  const missions = await Promise.all(
    planned.map(async each => {
      const made =
        plan.status === 'approved' ? await fleet.store.get('missions', missionIdOf(plan.id, each.key)) : undefined
      return { ...each, mission_id: made?.value.id ?? null, status: made?.value.status ?? null }
    }),
  )
  return {
    ...planSummary(plan),
    goal: await fleet.blobs.read(plan.goal),
    missions,
    steps: levelsOf(planned).map(level => level.map(each => each.key)),
    estimate: estimateOf(planned),
    waits_for: planner ? (await missionView(fleet, planner.value)).waits_for : [],
  }
}

const Where = {
  project_id: ProjectRef.optional(),
  project_path: z
    .string()
    .min(1)
    .max(4000)
    .optional()
    .describe('a repository, by its absolute path; where there is no such folder, one is made'),
}

async function projectFor(
  context: Context,
  input: {
    project_id?: string
    project_path?: string
    name?: string
    prompt: string
    agent?: string
    landing?: LandingPolicy
  },
): Promise<Place> {
  const { fleet } = context
  if (input.project_id) return { project: (await lookUp(fleet, 'projects', input.project_id)).value, made: false }
  const wish = { planner: input.agent, landing: input.landing }
  if (input.project_path) return projectAt(fleet, ask(context, 'plan_project'), input.project_path, wish)
  return newProject(fleet, ask(context, 'plan_project'), input.name ?? input.prompt, wish)
}

const WithPlan = z.object({ plan_id: Ref })

/** The commands that decide about a plan. */
function onPlan<const N extends string, I extends z.ZodObject<{ plan_id: typeof Ref }>>(
  name: N,
  summary: string,
  http: `${'PUT' | 'POST'} /${string}`,
  input: I,
  run: (context: Context, id: string, input: Omit<z.infer<I>, 'plan_id'>) => Promise<{ value: Plan }>,
) {
  return command({
    name,
    summary,
    http,
    needsFleet: true,
    input,
    output: PlanView,
    run: async (context, { plan_id, ...rest }) => {
      const { value } = await lookUp(context.fleet, 'plans', plan_id as string)
      return planView(context.fleet, (await run(context, value.id, rest as never)).value)
    },
  })
}

export const plans = [
  command({
    name: 'plan_project',
    summary: 'Have an agent look at a repository and propose missions for what is to be built',
    http: 'POST /api/plan',
    needsFleet: true,
    input: z.object({
      prompt: z.string().trim().min(1).max(200_000).describe('what to build'),
      ...Where,
      name: z.string().min(1).max(120).optional().describe('of the new repository, where none is named'),
      landing: LandingPolicy.optional().describe('of the project, where one is made'),
      agent: z.string().min(1).max(40).optional().describe('who plans; it must be able to only look'),
      model: z.string().min(1).max(120).optional(),
      scripts: z.boolean().default(false).describe('its missions may be scripts: the planner may name shell for them'),
      approve: z.boolean().default(false).describe('start the missions without asking'),
    }),
    output: PlanView,
    run: async (context, { prompt, agent, model, approve, scripts, ...where }) => {
      const { fleet } = context
      const asked = ask(context, 'plan_project')
      const place = await projectFor(context, { ...where, prompt, agent })
      const wish = { goal: prompt, agent, model, auto_approve: approve, scripts }
      const plan = await requestPlan(fleet, asked, place.project.id, wish).catch(async error => {
        await takeBack(fleet, asked, place)
        throw error
      })
      return planView(fleet, plan.value)
    },
  }),
  query({
    name: 'list_plans',
    summary: 'List plans, newest first',
    http: 'GET /api/plans',
    input: z.object({ project_id: ProjectRef.optional(), status: z.enum(PLAN_STATUSES).optional(), ...Paging }),
    output: z.object({ plans: z.array(PlanSummary), cursor: z.string().optional() }),
    run: async ({ fleet }, { project_id, status, limit, cursor }) => {
      const where = project_id
        ? { index: 'project', equals: [(await lookUp(fleet, 'projects', project_id)).value.id] }
        : { index: 'created' }
      const page = await fleet.store.find('plans', { ...where, newestFirst: true, limit, cursor })
      const found = page.items.map(item => item.value).filter(plan => !status || plan.status === status)
      return { plans: found.map(planSummary), cursor: page.cursor }
    },
  }),
  query({
    name: 'get_plan',
    summary: 'Show a plan with its missions and what depends on what',
    http: 'GET /api/plans/:plan_id',
    input: WithPlan,
    output: PlanView,
    run: async ({ fleet }, { plan_id }) => planView(fleet, (await lookUp(fleet, 'plans', plan_id)).value),
  }),
  query({
    name: 'wait_for_plan',
    summary: 'Wait until a planner has answered or needs a person, at most so many seconds',
    http: 'GET /api/plans/:plan_id/wait',
    input: WithPlan.extend({ timeout_seconds: z.number().min(0).max(3600).default(45) }),
    output: PlanView,
    run: async ({ fleet, signal, progress }, { plan_id, timeout_seconds }) => {
      const { value: plan } = await lookUp(fleet, 'plans', plan_id)
      // Its planner may be deleted by then.
      if (plan.status !== 'planning') return planView(fleet, plan)
      const began = performance.now()
      await awaitMission(fleet, plan.mission_id, {
        seconds: timeout_seconds,
        signal,
        // The holder settles a plan whose planner has failed; that is a commit of its own.
        settled: async planner =>
          ['needs_input', 'review'].includes(planner.status) ||
          (await fleet.store.get('plans', plan.id))?.value.status !== 'planning',
        tell: planner => {
          const done = Math.round((performance.now() - began) / 100) / 10
          progress?.({ done, total: timeout_seconds, message: `the planner is ${planner.status}` })
        },
      })
      return planView(fleet, (await lookUp(fleet, 'plans', plan.id)).value)
    },
  }),
  onPlan(
    'edit_plan',
    'Put other missions in place of the proposed ones',
    'PUT /api/plans/:plan_id',
    WithPlan.extend({
      missions: z.array(PlannedMission.strict()).min(1).max(MAX_PLANNED),
      summary: z.string().max(8000).optional(),
    }),
    (context, id, { missions, summary }) => editPlan(context.fleet, ask(context, 'edit_plan'), id, missions, summary),
  ),
  onPlan(
    'approve_plan',
    'Make the missions of a plan and start them; either all are made or none is',
    'POST /api/plans/:plan_id/approve',
    WithPlan,
    (context, id) => approvePlan(context.fleet, ask(context, 'approve_plan'), id),
  ),
  onPlan(
    'reject_plan',
    'Put a plan aside, and stop its planner if that is still at work',
    'POST /api/plans/:plan_id/reject',
    WithPlan.extend({ reason: z.string().max(2000).default('') }),
    (context, id, { reason }) => rejectPlan(context.fleet, ask(context, 'reject_plan'), id, reason),
  ),
  command({
    name: 'generate_next',
    summary: 'Make a mission of what the report of another one leaves to do; asked for twice, it is the same',
    http: 'POST /api/missions/:mission_id/generate-next',
    needsFleet: true,
    input: z.object({
      mission_id: Ref,
      again: z.boolean().default(false).describe('make another one although there is one already'),
      auto_dispatch: z.boolean().default(false).describe('queue it at once'),
    }),
    output: MissionView,
    run: async (context, { mission_id, again, auto_dispatch }) => {
      const { value } = await lookUp(context.fleet, 'missions', mission_id)
      const next = await followUp(context.fleet, ask(context, 'generate_next'), value.id, {
        again,
        dispatch: auto_dispatch,
      })
      return missionView(context.fleet, next.value, { whole: true })
    },
  }),
]
