import * as z from 'zod'
import { NotAllowed } from '../../domain/errors.ts'
import { MissionType, STATUSES, type Status } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import { type Brief, briefOf } from '../briefing.ts'
import { ProjectRef, Ref } from '../inputs.ts'
import { type PlanView, planBrief } from '../plans.ts'
import type { MissionView } from '../views.ts'
import { type Ask, aliasesOf } from './alias.ts'
import { waitFor } from './questions.ts'
import { Agent, briefs, type Detail, type Missions, Model, statusOf } from './shared.ts'

const forMissions = aliasesOf({ knownFrom: 'claude-devfleet', set: 'missions' })

const WithMission = z.object({ mission_id: Ref })

/** The tools for projects, plans and missions. */
export const MISSION_TOOLS = [
  forMissions({
    name: 'plan_project',
    summary: 'Ask an agent to look at a repository and propose missions for a goal. Nothing runs before approve_plan.',
    input: z.object({
      prompt: z.string().min(1).max(200_000).describe('what to build'),
      project_path: z
        .string()
        .max(4000)
        .optional()
        .describe('the absolute path of the repository; without it a new one is made'),
      project_id: ProjectRef.optional().describe('instead of project_path'),
      agent: Agent,
      model: Model,
      scripts: z.boolean().optional().describe('its missions may be scripts, run by shell'),
      timeout_seconds: z.number().min(0).max(3600).default(45),
    }),
    long: true,
    run: async (ask, { timeout_seconds, ...input }) => {
      const agent = input.agent ?? (input.project_id ? await agentIn(ask, input.project_id) : await agentOf(ask))
      const { id } = await ask<PlanView>('plan_project', { ...input, agent, landing: 'auto' })
      return planBrief(await ask<PlanView>('wait_for_plan', { plan_id: id, timeout_seconds }))
    },
  }),
  forMissions({
    name: 'create_project',
    summary:
      'Make a git repository on this machine a project, or make a new repository for it. Returns its project_id. Finished work lands automatically, and missions that name no agent use claude.',
    input: z.object({
      name: z.string().min(1).max(120),
      path: z
        .string()
        .max(4000)
        .optional()
        .describe('the absolute path of the repository; without it a new one is made in projects_dir'),
      description: z.string().max(4000).optional(),
    }),
    run: async (ask, { name, path, description }) => {
      // As in claude-devfleet: Claude works on it, and finished work lands.
      const theirs = { landing: 'auto', agent: await agentOf(ask) }
      const wanted = { name, description, ...(path && { path }), ...theirs }
      const project = await ask<Project>('create_project', wanted)
      return { ...projectBrief(project), note: LANDS }
    },
  }),
  forMissions({
    name: 'list_projects',
    summary: 'List the projects with their ids.',
    input: z.object({}),
    readOnly: true,
    run: async ask => {
      const { projects } = await ask<{ projects: Project[] }>('list_projects', { limit: 200 })
      return { projects: projects.map(projectBrief), count: projects.length }
    },
  }),
  forMissions({
    name: 'create_mission',
    summary:
      'Describe one piece of work for one agent, which does it in a worktree of its own. It starts with dispatch_mission; with auto_dispatch it starts automatically once its dependencies are done.',
    input: z.object({
      project_id: ProjectRef,
      title: z.string().min(1).max(300),
      prompt: z
        .string()
        .min(1)
        .max(1_000_000)
        .describe('all the agent needs to know; it does not see this conversation'),
      acceptance_criteria: z.string().max(20_000).optional(),
      depends_on: z.array(Ref).max(60).optional().describe('missions that must be done first'),
      auto_dispatch: z.boolean().optional(),
      priority: z.number().int().min(-1000).max(1000).optional().describe('higher starts first'),
      model: Model,
      agent: Agent,
      mission_type: MissionType.optional(),
    }),
    run: async (ask, input) => {
      const agent = input.agent ?? (await agentIn(ask, input.project_id))
      const mission = await ask<MissionView>('create_mission', { ...input, agent })
      const { depends_on } = mission
      return { ...told(mission), depends_on, auto_dispatch: input.auto_dispatch ?? false }
    },
  }),
  forMissions({
    name: 'dispatch_mission',
    summary: 'Send an agent to work on a mission; wait_for_mission says when it is over.',
    input: WithMission.extend({
      model: Model,
      max_turns: z.number().int().min(1).max(10_000).optional(),
      agent: Agent,
    }),
    run: async (ask, input) => told(await ask<MissionView>('dispatch_mission', input)),
  }),
  forMissions({
    name: 'get_mission_status',
    summary: 'Show a mission: its status, what it does or waits for, time and usage.',
    input: WithMission,
    readOnly: true,
    run: async (ask, { mission_id }) => named(await statusOf(ask, mission_id)),
  }),
  forMissions({
    name: 'wait_for_mission',
    summary:
      'Wait until a mission is over or needs a person. Answers "running" when timeout_seconds have passed first: then call it again. Meanwhile, a client that supports forms is shown the questions of the agent.',
    input: WithMission.extend({ timeout_seconds: z.number().min(0).max(3600).default(45) }),
    readOnly: true,
    long: true,
    run: async (ask, input, elicit) => {
      const { answer, mission } = await waitFor(ask, input, elicit)
      return { answer, ...named(await statusOf(ask, mission.id)) }
    },
  }),
  forMissions({
    name: 'get_report',
    summary: "What a mission's newest session did: summary, files and commits as git saw them, what is open.",
    input: WithMission,
    readOnly: true,
    run: async (ask, { mission_id }) => {
      const { id, title, status, report } = await ask<Detail>('get_mission', { mission_id })
      if (report) return { title, mission_status: status, ...report }
      throw new NotAllowed(`Mission ${id} is ${status} and has no report yet.`, {
        try: status === 'draft' ? 'Dispatch it first: dispatch_mission.' : 'Wait for it first: wait_for_mission.',
      })
    },
  }),
  forMissions({
    name: 'cancel_mission',
    summary: 'Stop a mission; its work is kept on its branch.',
    input: WithMission,
    run: async (ask, input) => told(await ask<MissionView>('cancel_mission', input)),
  }),
  forMissions({
    name: 'list_missions',
    summary: 'List the newest missions of a project.',
    input: z.object({
      project_id: ProjectRef,
      status: z
        .enum([...STATUSES, 'completed'])
        .optional()
        .describe('completed: the same as done'),
    }),
    readOnly: true,
    run: async (ask, { project_id, status }) => {
      const wanted = { project_id, ...(status && { status: status === 'completed' ? 'done' : status }) }
      const missions = briefs((await ask<Missions>('list_missions', wanted)).missions).map(named)
      return { missions, count: missions.length }
    },
  }),
  forMissions({
    name: 'get_dashboard',
    summary: 'The whole fleet at a glance: what runs, what waits for a person, what failed lately.',
    input: z.object({}),
    readOnly: true,
    run: async ask => {
      const [{ paused, missions: counts, max_concurrent }, ...lists] = await Promise.all([
        ask<{ paused: boolean; missions: Record<string, number>; max_concurrent: number }>('system_status', {}),
        ...GLANCED.map(status => ask<Missions>('list_missions', { status, limit: 10 })),
      ])
      const shown = GLANCED.map((status, at) => [status, briefs(lists[at]!.missions).map(({ summary }) => summary)])
      return { paused, max_concurrent, missions: counts, ...Object.fromEntries(shown) }
    },
  }),
]

const LANDS =
  'Finished work of this project lands automatically. To review it first: fleet project set <project> --landing review.'

const GLANCED: readonly Status[] = ['running', 'queued', 'needs_input', 'review', 'failed']

/** Missions of claude-devfleet are Claude's, unless the project or the fleet has another agent. */
async function agentIn(ask: Ask, project_id: string): Promise<string | undefined> {
  return (await ask<Project>('get_project', { project_id })).agent ? undefined : agentOf(ask)
}

async function agentOf(ask: Ask): Promise<string | undefined> {
  return (await ask<{ default_agent: string | null }>('get_engine', {})).default_agent ? undefined : 'claude'
}

const projectBrief = (project: Project) => {
  const { id, name, path, description, agent, model, base_branch, landing, paused, created_at } = project
  return { id, project_id: id, ...{ name, path, description, agent, model, base_branch, landing, paused, created_at } }
}

/** Clients of claude-devfleet read `id` where ours read `mission_id`. */
const named = (brief: Brief) => ({ id: brief.mission_id, ...brief })
const told = (mission: MissionView) => named(briefOf(mission, undefined, Date.now()))
