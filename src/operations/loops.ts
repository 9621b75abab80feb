import * as z from 'zod'
import { isLoopOver, Loop, LoopSettings, nextMove, Round } from '../domain/records/loop.ts'
import { Plan } from '../domain/records/plan.ts'
import { headOf } from '../domain/text.ts'
import type { Ask } from '../fleet/commands.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { loopOf, pauseLoop, resumeLoop, startLoop, stopLoop } from '../fleet/loops/loops.ts'
import { type RoundDetail, roundOf } from '../fleet/loops/rounds.ts'
import { standingOf } from '../fleet/loops/standing.ts'
import { lookUp } from '../fleet/records.ts'
import { ask, Paging, ProjectRef, Ref } from './inputs.ts'
import { command, query } from './operation.ts'
import { EvidenceView, MissionView, missionView } from './views.ts'

const LoopSummary = Loop.omit({ goal: true }).extend({ goal: z.string().describe('in lists, only its beginning') })
const LoopView = LoopSummary.extend({
  spent_usd: z.number(),
  waits_for: z.string().nullable().describe('empty when it is over'),
})
export type LoopView = z.infer<typeof LoopView>

async function loopView(fleet: Fleet, loop: Loop): Promise<LoopView> {
  const standing = await standingOf(fleet, loop)
  const move = isLoopOver(loop) ? null : nextMove(loop, standing)
  return {
    ...loop,
    goal: await fleet.blobs.read(loop.goal),
    spent_usd: standing.spentUsd,
    waits_for: move && (move.do === 'wait' ? move.for : DOING[move.do]),
  }
}

/** Short waits: a running server does these by itself. */
const DOING = {
  plan: 'its next round',
  approve: 'the missions of its plan',
  check: 'the checks of the project',
  reject: 'the end of its planner',
  cancel: 'the end of its agents',
  'end round': 'its next round',
  end: 'its end',
  close: 'its end',
} as const

const RoundView = Round.extend({
  plan: Plan.pick({ id: true, status: true, summary: true, reason: true })
    .nullable()
    .describe('empty: the plan was deleted'),
  planner: z.object({ mission_id: z.string(), cost_usd: z.number() }).nullable(),
  missions: z
    .array(
      z.object({
        title: z.string().describe('as it was planned'),
        mission: MissionView.nullable().describe('empty: it was not started, or was deleted'),
        cost_usd: z.number().describe('with its sub-missions'),
      }),
    )
    .describe('what the round planned'),
  checks: z.array(EvidenceView).describe('the checks that decided whether the goal is reached'),
})

async function roundView(fleet: Fleet, detail: RoundDetail): Promise<z.infer<typeof RoundView>> {
  const { round, plan, planner, missions, checks } = detail
  return {
    ...round,
    plan: plan ? { id: plan.id, status: plan.status, summary: plan.summary, reason: plan.reason } : null,
    planner: planner ? { mission_id: planner.mission.id, cost_usd: planner.costUsd } : null,
    missions: await Promise.all(
      missions.map(async ({ planned, mission, costUsd }) => ({
        title: planned.title,
        mission: mission ? await missionView(fleet, mission) : null,
        cost_usd: costUsd,
      })),
    ),
    checks: await Promise.all(
      checks.map(async ({ output, ...rest }) => ({ ...rest, output: await fleet.blobs.read(output) })),
    ),
  }
}

const WithProject = z.object({ project_id: ProjectRef })

function onLoop(
  verb: 'pause' | 'resume' | 'stop',
  summary: string,
  run: (fleet: Fleet, ask: Ask, projectId: string) => Promise<{ value: Loop }>,
) {
  return command({
    may: 'loops.run',
    mcp: 'planning',
    name: `${verb}_loop`,
    summary,
    http: `POST /api/autoloop/${verb}/:project_id`,
    needsFleet: true,
    input: WithProject,
    output: LoopView,
    run: async (context, { project_id }) => {
      const { value } = await lookUp(context.fleet, 'projects', project_id)
      return loopView(context.fleet, (await run(context.fleet, ask(context, `${verb}_loop`), value.id)).value)
    },
  })
}

export const loops = [
  command({
    name: 'start_loop',
    may: 'loops.run',
    mcp: 'planning',
    summary: 'Start a loop: plan, run missions and land them in rounds until a goal is reached',
    http: 'POST /api/autoloop/start',
    needsFleet: true,
    input: LoopSettings.extend({ project_id: ProjectRef, goal: z.string().trim().min(1).max(200_000) }),
    output: LoopView,
    run: async (context, { project_id, goal, ...settings }) => {
      const { value: project } = await lookUp(context.fleet, 'projects', project_id)
      const { value } = await startLoop(context.fleet, ask(context, 'start_loop'), project.id, goal, settings)
      return loopView(context.fleet, value)
    },
  }),
  onLoop('pause', 'Pause the loop of a project: nothing new starts, running work continues', pauseLoop),
  onLoop('resume', 'Resume the paused loop of a project', resumeLoop),
  onLoop('stop', 'End the loop of a project and stop its agents; their work is kept', stopLoop),
  query({
    name: 'get_loop',
    may: 'missions.read',
    mcp: 'planning',
    summary: 'Show the newest loop of a project',
    http: 'GET /api/autoloop/status/:project_id',
    input: WithProject,
    output: LoopView,
    run: async ({ fleet }, { project_id }) => {
      const { value } = await lookUp(fleet, 'projects', project_id)
      return loopView(fleet, (await loopOf(fleet, value.id)).value)
    },
  }),
  query({
    name: 'get_loop_details',
    may: 'missions.read',
    mcp: 'planning',
    summary: 'Show one loop by its id, with its whole goal',
    http: 'GET /api/loops/:loop_id',
    input: z.object({ loop_id: Ref }),
    output: LoopView,
    run: async ({ fleet }, { loop_id }) => loopView(fleet, (await lookUp(fleet, 'loops', loop_id)).value),
  }),
  query({
    name: 'get_loop_round',
    may: 'missions.read',
    mcp: 'planning',
    summary: 'Show what one round of a loop planned, what became of its missions, and what each cost',
    http: 'GET /api/loops/:loop_id/round',
    input: z.object({
      loop_id: Ref,
      number: z.number().int().min(1).max(50).optional().describe('absent: the newest'),
    }),
    output: RoundView,
    run: async ({ fleet }, { loop_id, number }) => {
      const { value } = await lookUp(fleet, 'loops', loop_id)
      return roundView(fleet, await roundOf(fleet, value, number))
    },
  }),
  query({
    name: 'list_loops',
    may: 'missions.read',
    mcp: 'planning',
    summary: 'List the loops of a project, newest first',
    http: 'GET /api/autoloop/history/:project_id',
    input: WithProject.extend(Paging),
    output: z.object({ loops: z.array(LoopSummary), cursor: z.string().optional() }),
    run: async ({ fleet }, { project_id, limit, cursor }) => {
      const { value } = await lookUp(fleet, 'projects', project_id)
      const query = { index: 'project', equals: [value.id], newestFirst: true, limit, cursor }
      const page = await fleet.store.find('loops', query)
      return { loops: page.items.map(({ value: loop }) => ({ ...loop, goal: headOf(loop.goal) })), cursor: page.cursor }
    },
  }),
]
