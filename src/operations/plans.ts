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
import { Images } from '../domain/records/told.ts'
import { headOf } from '../domain/text.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { awaitMission } from '../fleet/missions/await.ts'
import { followUp } from '../fleet/missions/follow-ups.ts'
import { approvePlan, editPlan, missionIdOf, plannedIn, rejectPlan, requestPlan } from '../fleet/planning/plans.ts'
import { type FoundProject, newProject, projectAt, takeBack } from '../fleet/projects/new-projects.ts'
import { lookUp } from '../fleet/records.ts'
import { ask, Paging, ProjectRef, Ref } from './inputs.ts'
import { requireNeeded } from './needed.ts'
import { type Context, command, type Operation, query } from './operation.ts'
import { MissionView, missionView, Waiting } from './views.ts'

export const PlanSummary = Plan.omit({ goal: true, missions: true }).extend({
  goal: z.string().describe('in lists, only its beginning'),
})
const PlanView = PlanSummary.extend({
  missions: z.array(
    PlannedMission.extend({
      mission_id: z.string().nullable().describe('set once the plan is approved'),
      status: Status.nullable().describe('the status of that mission'),
    }),
  ),
  steps: z
    .array(z.array(z.string()))
    .describe('the keys of the missions; each step needs only missions of earlier steps'),
  estimate: PlanEstimate,
  waits_for: z.array(Waiting).describe('what keeps the planner from starting or continuing'),
})
export type PlanView = z.infer<typeof PlanView>

export function planSummary({ goal, missions, ...shown }: Plan): z.infer<typeof PlanSummary> {
  return { ...shown, goal: headOf(goal) }
}

/** A plan in brief for a model, with what it may do next. */
export const planBrief = ({ id, project_id, status, reason, summary, missions, steps, estimate }: PlanView) => ({
  plan_id: id,
  ...{ project_id, status, reason, summary, steps, estimate },
  missions: missions.map(({ estimate_minutes, estimate_usd, priority, ...mission }) => mission),
  next: {
    planning: 'The planner is at work: call get_plan again.',
    proposed: 'Nothing runs yet. Show it to the person; approve_plan starts it.',
    approved: 'Its missions are queued: wait_for_mission with their ids.',
    rejected: 'It was rejected.',
    complete: 'The planner says that nothing is left to do.',
    failed: 'Ask again with plan_project, in other words or with another agent.',
  }[status],
})

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
    .describe('the absolute path of a repository; if the folder does not exist, it is created'),
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
): Promise<FoundProject> {
  const { fleet } = context
  if (input.project_id) return { project: (await lookUp(fleet, 'projects', input.project_id)).value, made: false }
  const wish = { planner: input.agent, landing: input.landing }
  if (input.project_path) return projectAt(fleet, ask(context, 'plan_project'), input.project_path, wish)
  return newProject(fleet, ask(context, 'plan_project'), input.name ?? input.prompt, wish)
}

const WithPlan = z.object({ plan_id: Ref })

function onPlan<const N extends string, I extends z.ZodObject<{ plan_id: typeof Ref }>>(
  name: N,
  summary: string,
  http: `${'PUT' | 'POST'} /${string}`,
  input: I,
  run: (context: Context, id: string, input: Omit<z.infer<I>, 'plan_id'>) => Promise<{ value: Plan }>,
  mcp: Operation['mcp'] = 'planning',
) {
  return command({
    may: 'plans.run',
    mcp,
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
    may: 'plans.run',
    mcp: { set: 'planning', name: 'plan_project_in_full' },
    summary: 'Ask an agent to look at a repository and propose missions for a goal',
    http: 'POST /api/plan',
    needsFleet: true,
    input: z.object({
      prompt: z.string().trim().min(1).max(200_000).describe('what to build'),
      ...Where,
      name: z.string().min(1).max(120).optional().describe('the name of the new repository, if none is named'),
      landing: LandingPolicy.optional().describe('the landing policy of the project, if one is created'),
      agent: z.string().min(1).max(40).optional().describe('the agent that plans; it must support the preset explore'),
      model: z.string().min(1).max(120).optional(),
      scripts: z.boolean().default(false).describe('the planner may use shell, so its missions may be scripts'),
      approve: z.boolean().default(false).describe('start the missions without asking'),
      images: Images.default([]).describe('what the planner is shown with the goal; see add_image'),
    }),
    // Without one it may create a project, at any path and with any landing policy.
    mayAlso: ({ project_id }) => (project_id === undefined ? ['projects.write'] : []),
    output: PlanView,
    run: async (context, { prompt, agent, model, approve, scripts, images, ...where }) => {
      const { fleet } = context
      const asked = ask(context, 'plan_project')
      const found = await projectFor(context, { ...where, prompt, agent })
      const wish = { goal: prompt, agent, model, auto_approve: approve, scripts, images }
      const plan = await requestPlan(fleet, asked, found.project.id, wish).catch(async error => {
        await takeBack(fleet, asked, found)
        throw error
      })
      return planView(fleet, plan.value)
    },
  }),
  query({
    name: 'list_plans',
    may: 'missions.read',
    mcp: 'planning',
    summary: 'List plans, newest first',
    http: 'GET /api/plans',
    input: z.object({ project_id: ProjectRef.optional(), status: z.enum(PLAN_STATUSES).optional(), ...Paging }),
    output: z.object({ plans: z.array(PlanSummary), cursor: z.string().optional() }),
    run: async ({ fleet }, { project_id, status, limit, cursor }) => {
      const project = project_id && (await lookUp(fleet, 'projects', project_id)).value.id
      const index = project ? (status ? 'project_status' : 'project') : status ? 'status' : 'created'
      const equals = [project, status].filter(each => each !== undefined)
      const page = await fleet.store.find('plans', { index, equals, newestFirst: true, limit, cursor })
      return { plans: page.items.map(({ value }) => planSummary(value)), cursor: page.cursor }
    },
  }),
  query({
    name: 'get_plan',
    may: 'missions.read',
    mcp: { set: 'planning', name: 'get_plan_in_full' },
    summary: 'Show a plan with its missions and their dependencies',
    http: 'GET /api/plans/:plan_id',
    input: WithPlan,
    output: PlanView,
    run: async ({ fleet }, { plan_id }) => planView(fleet, (await lookUp(fleet, 'plans', plan_id)).value),
  }),
  query({
    name: 'wait_for_plan',
    may: 'missions.read',
    mcp: { set: 'missions', name: 'get_plan', long: true, told: planBrief },
    summary: 'Wait until a planner has answered or needs a person, up to a number of seconds',
    http: 'GET /api/plans/:plan_id/wait',
    input: WithPlan.extend({ timeout_seconds: z.number().min(0).max(3600).default(45) }),
    output: PlanView,
    run: async ({ fleet, signal, progress }, { plan_id, timeout_seconds }) => {
      const { value: plan } = await lookUp(fleet, 'plans', plan_id)
      // By then its planner may have been deleted.
      if (plan.status !== 'planning') return planView(fleet, plan)
      const began = performance.now()
      await awaitMission(fleet, plan.mission_id, {
        seconds: timeout_seconds,
        signal,
        // The daemon settles a plan whose planner has failed, in a separate commit.
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
    'Replace the proposed missions',
    'PUT /api/plans/:plan_id',
    WithPlan.extend({
      missions: z.array(PlannedMission.strict()).min(1).max(MAX_PLANNED),
      summary: z.string().max(8000).optional(),
    }),
    (context, id, { missions, summary }) => editPlan(context.fleet, ask(context, 'edit_plan'), id, missions, summary),
  ),
  onPlan(
    'approve_plan',
    'Create the missions of a plan and start them, all or none',
    'POST /api/plans/:plan_id/approve',
    WithPlan,
    (context, id) => approvePlan(context.fleet, ask(context, 'approve_plan'), id),
    { set: 'missions', told: planBrief },
  ),
  onPlan(
    'reject_plan',
    'Reject a plan, and stop its planner if it is still running',
    'POST /api/plans/:plan_id/reject',
    WithPlan.extend({ reason: z.string().max(2000).default('') }),
    (context, id, { reason }) => rejectPlan(context.fleet, ask(context, 'reject_plan'), id, reason),
  ),
  command({
    name: 'generate_next',
    may: 'plans.run',
    mcp: 'planning',
    summary: 'Create a mission from what the report of another one left to do; a second call returns the same mission',
    http: 'POST /api/missions/:mission_id/generate-next',
    needsFleet: true,
    input: z.object({
      mission_id: Ref,
      again: z.boolean().default(false).describe('create another one even if there is one already'),
      auto_dispatch: z.boolean().default(false).describe('queue it at once'),
    }),
    output: MissionView,
    run: async (context, { mission_id, again, auto_dispatch }) => {
      const { value } = await lookUp(context.fleet, 'missions', mission_id)
      requireNeeded(context, value)
      const next = await followUp(context.fleet, ask(context, 'generate_next'), value.id, {
        again,
        dispatch: auto_dispatch,
      })
      return missionView(context.fleet, next.value, { whole: true })
    },
  }),
]
