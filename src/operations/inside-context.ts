import * as z from 'zod'
import { NotFound } from '../domain/errors.ts'
import { Comment, type Mission, Status } from '../domain/records/mission.ts'
import { Project } from '../domain/records/project.ts'
import { Report } from '../domain/records/report.ts'
import { Session } from '../domain/records/session.ts'
import { isOver } from '../domain/rules/delegation.ts'
import { effective } from '../domain/rules/effective.ts'
import { partsOf } from '../fleet/delegation/delegation.ts'
import { budgetLeft } from '../fleet/dispatch/budgets.ts'
import { defaultsOf } from '../fleet/dispatch/capacity.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { endOfNote, notesOf } from '../fleet/missions/notes.ts'
import { all, current, dependenciesOf, lookUp } from '../fleet/records.ts'
import { Brief, brief } from './briefs.ts'
import { Paging, Ref } from './inputs.ts'
import { insideQuery } from './inside.ts'

const Limits = z.object({
  max_turns: z.number().nullable(),
  budget_left_usd: z.number().nullable(),
  timeout_seconds: z.number(),
  tool_preset: z.string(),
  sub_missions_left: z.number(),
})
const OwnSession = Session.pick({
  id: true,
  number: true,
  reason: true,
  agent: true,
  model: true,
  branch: true,
  worktree: true,
  start_commit: true,
})
const PastSession = Session.pick({
  id: true,
  number: true,
  reason: true,
  agent: true,
  model: true,
  status: true,
  outcome: true,
  outcome_reason: true,
  branch: true,
  usage: true,
  started_at: true,
  ended_at: true,
})
const ProjectContext = Project.pick({
  id: true,
  name: true,
  description: true,
  path: true,
  base_branch: true,
  landing: true,
  checks: true,
  setup_command: true,
  instructions: true,
})

/** How many of the newest missions and reports of a project are included by default. */
const RECENT = 10

export const insideContext = [
  insideQuery({
    name: 'get_mission_context',
    mcp: 'inside',
    summary: 'Your mission: the task, its dependencies, your limits, notes and comments',
    http: 'GET /api/agent/mission',
    input: z.object({}),
    output: z.object({
      mission: Brief,
      detailed_prompt: z.string(),
      acceptance_criteria: z.string(),
      session: OwnSession,
      limits: Limits,
      depends_on: z.array(Brief),
      notes: z.object({
        folder: z.string().describe('where PLAN.md, KNOWLEDGE.md, questions.md and the artifacts are'),
        plan: z.string(),
        knowledge: z.string(),
      }),
      comments: z.array(Comment.pick({ author: true, body: true, path: true, line: true, created_at: true })),
    }),
    run: async ({ fleet }, _, { mission_id, session_id }) => {
      const { value: mission } = await current(fleet, 'missions', mission_id)
      const { value: session } = await current(fleet, 'sessions', session_id)
      const comments = await Array.fromAsync(all(fleet, 'comments', 'mission', [mission_id]))
      const notes = notesOf(fleet, mission_id)
      return {
        mission: await brief(fleet, mission),
        detailed_prompt: await fleet.blobs.read(mission.prompt),
        acceptance_criteria: mission.acceptance_criteria,
        session: OwnSession.parse(session),
        limits: await limits(fleet, mission, session),
        depends_on: await briefs(
          fleet,
          (await dependenciesOf(fleet, mission)).map(({ value }) => value),
        ),
        notes: {
          folder: fleet.home.task(mission_id),
          plan: endOfNote(notes.plan),
          knowledge: endOfNote(notes.knowledge),
        },
        comments: comments.map(({ value: { author, body, path, line, created_at } }) => ({
          ...{ author, body, path, line, created_at },
        })),
      }
    },
  }),
  insideQuery({
    name: 'get_project_context',
    mcp: 'inside',
    summary: 'Your project: its rules, its checks and its recent work',
    http: 'GET /api/agent/project',
    input: z.object({}),
    output: z.object({ project: ProjectContext, recent: z.array(Brief) }),
    run: async ({ fleet }, _, { project_id }) => ({
      project: ProjectContext.parse((await current(fleet, 'projects', project_id)).value),
      recent: await briefs(fleet, await newest(fleet, project_id, undefined, RECENT)),
    }),
  }),
  insideQuery({
    name: 'get_session_history',
    mcp: 'inside',
    summary: 'The sessions of a mission of your project and how each ended; without an id, of your mission',
    http: 'GET /api/agent/sessions',
    input: z.object({ mission_id: Ref.optional(), ...Paging }),
    output: z.object({ sessions: z.array(PastSession), cursor: z.string().optional() }),
    run: async ({ fleet }, { mission_id, limit, cursor }, session) => {
      const { id } = await inProject(fleet, mission_id ?? session.mission_id, session.project_id)
      const query = { index: 'mission', equals: [id], newestFirst: true, limit, cursor }
      const page = await fleet.store.find('sessions', query)
      return { sessions: page.items.map(({ value }) => PastSession.parse(value)), cursor: page.cursor }
    },
  }),
  insideQuery({
    name: 'get_team_context',
    mcp: 'inside',
    summary:
      'Who else is working: the parent of your mission, its other sub-missions, your own, and the rest of the project',
    http: 'GET /api/agent/team',
    input: z.object({}),
    output: z.object({
      parent: Brief.nullable(),
      siblings: z.array(Brief),
      children: z.array(Brief),
      others: z.array(Brief),
    }),
    run: async ({ fleet }, _, { mission_id, project_id }) => {
      const { value: mission } = await current(fleet, 'missions', mission_id)
      const above = mission.parent_mission_id && (await fleet.store.get('missions', mission.parent_mission_id))
      const parent = above && above.value.project_id === project_id ? above.value : null
      const siblings = parent ? (await partsOf(fleet, parent)).filter(({ id }) => id !== mission.id) : []
      const children = await partsOf(fleet, mission)
      const near = [mission, parent, ...siblings, ...children].map(each => each?.id)
      const others = (await newest(fleet, project_id, 'running', RECENT)).filter(({ id }) => !near.includes(id))
      const atWork = (missions: Mission[]) =>
        briefs(
          fleet,
          missions.filter(each => !isOver(each)),
        )
      return {
        parent: parent && (await brief(fleet, parent)),
        siblings: await atWork(siblings),
        children: await atWork(children),
        others: await briefs(fleet, others),
      }
    },
  }),
  insideQuery({
    name: 'read_past_reports',
    mcp: 'inside',
    summary: 'The reports of a mission of your project, newest first',
    http: 'GET /api/agent/reports',
    input: z.object({ mission_id: Ref, limit: z.number().int().min(1).max(50).default(5) }),
    output: z.object({ reports: z.array(Report) }),
    run: async ({ fleet }, { mission_id, limit }, { project_id }) => {
      const { id } = await inProject(fleet, mission_id, project_id)
      const query = { index: 'mission', equals: [id], newestFirst: true, limit }
      return { reports: (await fleet.store.find('reports', query)).items.map(({ value }) => value) }
    },
  }),
  insideQuery({
    name: 'list_project_missions',
    mcp: 'inside',
    summary: 'The missions of your project, newest first',
    http: 'GET /api/agent/missions',
    input: z.object({ status: Status.optional(), limit: z.number().int().min(1).max(100).default(30) }),
    output: z.object({ missions: z.array(Brief) }),
    run: async ({ fleet }, { status, limit }, { project_id }) => ({
      missions: await briefs(fleet, await newest(fleet, project_id, status, limit)),
    }),
  }),
]

const briefs = (fleet: Fleet, missions: readonly Mission[]): Promise<Brief[]> =>
  Promise.all(missions.map(mission => brief(fleet, mission)))

async function newest(fleet: Fleet, project: string, status: Status | undefined, limit: number): Promise<Mission[]> {
  const where = status
    ? { index: 'project_status', equals: [project, status] }
    : { index: 'project', equals: [project] }
  return (await fleet.store.find('missions', { ...where, newestFirst: true, limit })).items.map(({ value }) => value)
}

/** To an agent, a mission of another project does not exist. */
async function inProject(fleet: Fleet, ref: string, projectId: string): Promise<Mission> {
  const { value } = await lookUp(fleet, 'missions', ref).catch(() => ({ value: undefined }))
  if (value?.project_id === projectId) return value
  throw new NotFound('mission of this project', ref, { try: 'list_project_missions names them.' })
}

async function limits(fleet: Fleet, mission: Mission, session: Session): Promise<z.infer<typeof Limits>> {
  const { value: project } = await current(fleet, 'projects', mission.project_id)
  const { maxTurns, timeoutSeconds, preset } = effective(mission, project, defaultsOf(fleet))
  const budget = await budgetLeft(fleet, mission, project)
  return {
    max_turns: maxTurns,
    budget_left_usd: budget === null ? null : Math.max(0, budget - session.usage.cost_usd),
    timeout_seconds: timeoutSeconds,
    tool_preset: preset,
    sub_missions_left: Math.max(0, fleet.settings.maxSubMissions - mission.spawned),
  }
}
