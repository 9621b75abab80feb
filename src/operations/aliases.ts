import { basename } from 'node:path'
import * as z from 'zod'
import { InvalidInput, NotAllowed } from '../domain/errors.ts'
import { MissionType, Status } from '../domain/mission.ts'
import type { Project } from '../domain/project.ts'
import type { Report } from '../domain/report.ts'
import { type Brief, briefOf, logLine } from './briefing.ts'
import { Ref } from './inputs.ts'
import type { PlanView } from './plans.ts'
import type { MissionDetail, MissionView } from './views.ts'
import { WORKFLOW_TOOLS } from './workflow-aliases.ts'

/**
 * Names and inputs that people and their clients know from other tools, each told in operations of ours. This file is
 * the only place that knows them; MCP offers them as tools.
 */
export interface Alias<I extends z.ZodObject = z.ZodObject> {
  name: string
  summary: string
  /** `flotilla`: our own name, beside those that others know. */
  knownFrom: 'claude-devfleet' | 'codefleet' | 'flotilla'
  set: AliasSet
  input: I
  readOnly?: boolean
  /** Takes its time and says how far it is. */
  long?: boolean
  run(ask: Ask, input: z.infer<I>): Promise<unknown>
}

/** Which tools a client wants to see. */
export const ALIAS_SETS = ['missions', 'workers', 'workflows'] as const
export type AliasSet = (typeof ALIAS_SETS)[number]

/** Asks for an operation in the name of whoever asked for the alias. */
export type Ask = <T>(operation: string, input: object) => Promise<T>

const alias = <I extends z.ZodObject>(definition: Alias<I>): Alias => definition as unknown as Alias
const forMissions = <I extends z.ZodObject>(definition: Omit<Alias<I>, 'knownFrom' | 'set'>): Alias =>
  alias({ ...definition, knownFrom: 'claude-devfleet', set: 'missions' })
const forWorkers = <I extends z.ZodObject>(definition: Omit<Alias<I>, 'knownFrom' | 'set'>): Alias =>
  alias({ ...definition, knownFrom: 'codefleet', set: 'workers' })

type Detail = z.infer<typeof MissionDetail>
type Missions = { missions: MissionView[] }

const WithMission = z.object({ mission_id: Ref })
const WithWorker = z.object({ worker_id: Ref })
const Agent = z.string().max(40).optional().describe('the coding agent that does it, such as claude, codex or gemini')
const Model = z.string().max(120).optional()

const statusOf = async (ask: Ask, mission_id: string): Promise<Brief> => {
  const detail = await ask<Detail>('get_mission', { mission_id })
  return briefOf(detail, detail.sessions.at(-1), Date.now())
}
const briefs = (missions: MissionView[]): Brief[] => missions.map(each => briefOf(each, undefined, Date.now()))

/** What of a file an agent is shown at once. */
const ARTIFACT_BYTES = 50_000

const WithPlan = z.object({ plan_id: Ref })
const Patience = { timeout_seconds: z.number().min(0).max(3600).default(45) }

/** A plan as an agent needs it, and what it may do about it. */
const planBrief = ({ id, project_id, status, reason, summary, missions, steps, estimate }: PlanView) => ({
  plan_id: id,
  ...{ project_id, status, reason, summary, steps, estimate },
  missions: missions.map(({ estimate_minutes, estimate_usd, priority, ...mission }) => mission),
  next: {
    planning: 'The planner is at work: call get_plan again.',
    proposed: 'Nothing runs yet. Show it to the person; approve_plan starts it.',
    approved: 'Its missions are queued: wait_for_mission with their ids.',
    rejected: 'It was put aside.',
    complete: 'The planner says that nothing is left to do.',
    failed: 'Ask again with plan_project, in other words or with another agent.',
  }[status],
})

const MISSION_TOOLS = [
  forMissions({
    name: 'plan_project',
    summary:
      'Have an agent look at a repository and propose missions for what is to be built. Nothing runs before approve_plan.',
    input: z.object({
      prompt: z.string().min(1).max(200_000).describe('what to build'),
      project_path: z
        .string()
        .max(4000)
        .optional()
        .describe('the absolute path of the repository; without it a new one is made'),
      project_id: Ref.optional().describe('instead of project_path'),
      agent: Agent,
      model: Model,
      ...Patience,
    }),
    long: true,
    run: async (ask, { timeout_seconds, ...input }) => {
      const { id } = await ask<PlanView>('plan_project', input)
      return planBrief(await ask<PlanView>('wait_for_plan', { plan_id: id, timeout_seconds }))
    },
  }),
  alias({
    name: 'get_plan',
    summary: 'How a plan is; while its planner is at work, wait for it so many seconds.',
    knownFrom: 'flotilla',
    set: 'missions',
    input: WithPlan.extend(Patience),
    readOnly: true,
    long: true,
    run: async (ask, input) => planBrief(await ask<PlanView>('wait_for_plan', input)),
  }),
  alias({
    name: 'approve_plan',
    summary: 'Make the missions of a proposed plan and start them, each when what it depends on is done.',
    knownFrom: 'flotilla',
    set: 'missions',
    input: WithPlan,
    run: async (ask, input) => planBrief(await ask<PlanView>('approve_plan', input)),
  }),
  forMissions({
    name: 'create_project',
    summary: 'Make a git repository on this machine a project. Returns its project_id.',
    input: z.object({
      name: z.string().min(1).max(120),
      path: z.string().max(4000).optional().describe('the absolute path of the repository'),
      description: z.string().max(4000).optional(),
    }),
    run: async (ask, { path, ...more }) => {
      if (!path) throw new InvalidInput('path', 'is missing: give the absolute path of a git repository')
      return projectBrief(await ask<Project>('create_project', { path, ...more }))
    },
  }),
  forMissions({
    name: 'list_projects',
    summary: 'List the projects with their ids.',
    input: z.object({}),
    readOnly: true,
    run: async ask => ({
      projects: (await ask<{ projects: Project[] }>('list_projects', { limit: 200 })).projects.map(projectBrief),
    }),
  }),
  forMissions({
    name: 'create_mission',
    summary:
      'Describe one piece of work for one agent, which does it in a worktree of its own. It starts with dispatch_mission, or by itself with auto_dispatch once what it depends on is done.',
    input: z.object({
      project_id: Ref,
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
    run: async (ask, input) => briefOf(await ask<MissionView>('create_mission', input), undefined, Date.now()),
  }),
  forMissions({
    name: 'dispatch_mission',
    summary: 'Send an agent to work on a mission; wait_for_mission tells when it is over.',
    input: WithMission.extend({
      model: Model,
      max_turns: z.number().int().min(1).max(10_000).optional(),
      agent: Agent,
    }),
    run: async (ask, input) => briefOf(await ask<MissionView>('dispatch_mission', input), undefined, Date.now()),
  }),
  forMissions({
    name: 'get_mission_status',
    summary: 'How a mission is: status, a line that says what it does or waits for, time, usage.',
    input: WithMission,
    readOnly: true,
    run: async (ask, { mission_id }) => statusOf(ask, mission_id),
  }),
  forMissions({
    name: 'wait_for_mission',
    summary:
      'Wait until a mission is over or needs a person. Answers "running" when timeout_seconds have passed first: then call it again.',
    input: WithMission.extend({ timeout_seconds: z.number().min(0).max(3600).default(45) }),
    readOnly: true,
    long: true,
    run: async (ask, input) => {
      const { answer, mission } = await ask<{ answer: string; mission: MissionView }>('wait_for_mission', input)
      return { answer, ...(await statusOf(ask, mission.id)) }
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
  alias({
    name: 'get_mission_notes',
    summary: 'What a mission remembers: plan, knowledge, questions with their answers, and the files it left behind.',
    knownFrom: 'flotilla',
    set: 'missions',
    input: WithMission,
    readOnly: true,
    run: (ask, input) => ask('get_mission_notes', input),
  }),
  alias({
    name: 'read_artifact',
    summary: 'Read a file that a mission left behind, as get_mission_notes lists it.',
    knownFrom: 'flotilla',
    set: 'missions',
    input: WithMission.extend({ path: z.string().min(1).max(4096), offset: z.number().int().min(0).default(0) }),
    readOnly: true,
    run: (ask, input) => ask('read_artifact', { ...input, limit: ARTIFACT_BYTES }),
  }),
  forMissions({
    name: 'cancel_mission',
    summary: 'Stop a mission; its work is kept on its branch.',
    input: WithMission,
    run: async (ask, input) => briefOf(await ask<MissionView>('cancel_mission', input), undefined, Date.now()),
  }),
  forMissions({
    name: 'list_missions',
    summary: 'List the newest missions of a project.',
    input: z.object({ project_id: Ref, status: Status.optional() }),
    readOnly: true,
    run: async (ask, input) => ({ missions: briefs((await ask<Missions>('list_missions', input)).missions) }),
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

const GLANCED: readonly Status[] = ['running', 'queued', 'needs_input', 'review', 'failed']

const projectBrief = ({ id, name, path, description, agent, model, base_branch, landing, paused }: Project) => ({
  project_id: id,
  ...{ name, path, description, agent, model, base_branch, landing, paused },
})

/** Tells workers from other missions. */
const WORKER = 'worker'
const workerBrief = ({ mission_id, ...brief }: Brief) => ({ worker_id: mission_id, ...brief })

const WORKER_TOOLS = [
  forWorkers({
    name: 'healthcheck',
    summary: 'Whether the fleet is up, how full it is and which coding agents are installed.',
    input: z.object({}),
    readOnly: true,
    run: async ask => {
      const [status, { agents }] = await Promise.all([
        ask<{ version: string; paused: boolean; live_sessions: object[]; max_concurrent: number }>('system_status', {}),
        ask<{ agents: { name: string; installed: boolean; version?: string }[] }>('list_agents', {}),
      ])
      const { version, paused, live_sessions, max_concurrent } = status
      const executors = agents
        .filter(({ installed }) => installed)
        .map(({ name, version: its }) => ({ name, version: its }))
      return { status: 'ok', version, paused, running: live_sessions.length, max_concurrent, executors }
    },
  }),
  forWorkers({
    name: 'create_worker',
    summary:
      'Send an agent to work on a repository, in a worktree and on a branch of its own, and return at once. Its work stays on that branch; collect_worker_result tells what it did.',
    input: z.object({
      repo_path: z.string().min(1).max(4000).describe('the absolute path of the repository'),
      task_name: z.string().min(1).max(300),
      prompt: z.string().min(1).max(1_000_000),
      base_ref: z.string().min(1).max(250).default('HEAD').describe('the branch, tag or commit it starts from'),
      model: Model,
      executor: Agent,
      reasoning_effort: z.string().max(20).optional().describe('how hard it is to think, such as low or high'),
      timeout_seconds: z.number().int().min(1).max(604_800).optional(),
      tags: z.array(z.string().min(1).max(60)).max(19).default([]),
      metadata: z.record(z.string(), z.unknown()).default({}).describe('kept with it and told with its status'),
      extra_args: z.array(z.string()).default([]).describe('not passed on'),
      parent_worker_id: Ref.optional(),
    }),
    run: async (ask, input) => {
      requireOwnArguments(input)
      const { repo_path, task_name, executor, reasoning_effort, extra_args, parent_worker_id, tags, ...same } = input
      const name = basename(repo_path) || repo_path
      const project = await ask<Project>('create_project', { path: repo_path, name, if_exists: 'return' })
      const mission = await ask<MissionView>('create_mission', {
        ...same,
        project_id: project.id,
        title: task_name,
        agent: executor,
        effort: reasoning_effort,
        tags: [...new Set([WORKER, ...tags])],
        parent_mission_id: parent_worker_id,
        landing: 'never',
        auto_dispatch: true,
      })
      return workerBrief(briefOf(mission, undefined, Date.now()))
    },
  }),
  forWorkers({
    name: 'get_worker_status',
    summary: 'How a worker is: elapsed time, a progress bar and a line that says what it does.',
    input: WithWorker,
    readOnly: true,
    run: async (ask, { worker_id }) => workerBrief(await statusOf(ask, worker_id)),
  }),
  forWorkers({
    name: 'list_workers',
    summary: 'List the newest workers.',
    input: z.object({
      statuses: z.array(Status).max(10).optional(),
      limit: z.number().int().min(1).max(200).default(25),
    }),
    readOnly: true,
    run: async (ask, { statuses, limit }) => {
      const lists = await Promise.all(
        (statuses?.length ? statuses : [undefined]).map(status =>
          ask<Missions>('list_missions', { tag: WORKER, status, limit }),
        ),
      )
      const newest = lists
        .flatMap(({ missions }) => missions)
        .toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1))
      return { workers: briefs(newest.slice(0, limit)).map(workerBrief) }
    },
  }),
  forWorkers({
    name: 'collect_worker_result',
    summary: 'What a worker that is over did: summary, files and commits as git saw them, tests, next steps.',
    input: WithWorker.extend({
      include_logs: z.boolean().default(false),
      log_tail_lines: z.number().int().min(1).max(500).default(80),
    }),
    readOnly: true,
    run: async (ask, { worker_id, include_logs, log_tail_lines }) => {
      const detail = await ask<Detail>('get_mission', { mission_id: worker_id })
      if (['draft', 'queued', 'running', 'landing', 'waiting'].includes(detail.status))
        throw new NotAllowed(`Worker ${detail.id} is ${detail.status}, so there is no result yet.`, {
          try: 'Ask again when get_worker_status says that it is over, or wait_for_mission with its id.',
        })
      const session = detail.sessions.at(-1)
      const logs = include_logs && session ? await logOf(ask, session.id, log_tail_lines) : undefined
      return {
        ...workerBrief(briefOf(detail, session, Date.now())),
        worktree: session?.worktree_kept ? session.worktree : null,
        outcome: detail.report ? resultOf(detail.report, detail.evidence) : null,
        ...(logs && { logs }),
      }
    },
  }),
  forWorkers({
    name: 'cancel_worker',
    summary: 'Stop a worker; its work is kept on its branch.',
    input: WithWorker,
    run: async (ask, { worker_id }) => {
      const mission = await ask<MissionView>('cancel_mission', { mission_id: worker_id })
      return workerBrief(briefOf(mission, undefined, Date.now()))
    },
  }),
  forWorkers({
    name: 'cleanup_worker',
    summary:
      'Remove the worktree of a worker that is over and, if asked, its branch; the commits stay under refs/fleet.',
    input: WithWorker.extend({
      remove_branch: z.boolean().default(false),
      remove_worktree_dir: z.boolean().default(true),
    }),
    run: async (ask, { worker_id, remove_branch, remove_worktree_dir }) => {
      if (!remove_worktree_dir)
        throw new InvalidInput(
          'remove_worktree_dir',
          'without it there is nothing to do: the worktree holds the branch',
        )
      const { id, branch } = await ask<Detail>('get_mission', { mission_id: worker_id })
      const { worktrees } = await ask<{ worktrees: { path: string; ref: string; kept_because?: string }[] }>('clean', {
        mission_id: id,
        keep_branches: !remove_branch,
      })
      const kept = worktrees.find(({ kept_because }) => kept_because)
      if (kept) throw new NotAllowed(`The worktree ${kept.path} stays: ${kept.kept_because}.`)
      if (!worktrees.length && remove_branch && branch && !branch.startsWith('refs/'))
        throw new NotAllowed(`Its worktree is already gone, and ${branch} is an ordinary branch now.`, {
          try: `git branch -D ${branch}`,
        })
      return { worker_id: id, removed: worktrees.map(({ path }) => path), kept_as: worktrees.map(({ ref }) => ref) }
    },
  }),
]

/** Everything that other tools' clients may ask for here. */
export const ALIASES: readonly Alias[] = [...MISSION_TOOLS, ...WORKER_TOOLS, ...WORKFLOW_TOOLS]

/** What is started with arguments of a stranger's choice is held to no preset. */
function requireOwnArguments({ extra_args }: { extra_args: string[] }): void {
  if (extra_args.length)
    throw new InvalidInput('extra_args', 'agents are started with the arguments their adapters know', {
      try: 'Leave it out; model, executor, reasoning_effort and timeout_seconds can be set.',
    })
}

async function logOf(ask: Ask, session_id: string, limit: number): Promise<string[]> {
  const { events } = await ask<{ events: Record<string, unknown>[] }>('read_transcript', {
    session_id,
    limit,
    last: true,
  })
  return events.flatMap(event => logLine(event) ?? [])
}

function resultOf(report: Report, evidence: Detail['evidence']) {
  const { status, summary, files_changed, commits, what_tested, what_open, next_steps } = report
  const checked = evidence.map(({ command, passed, output }) => ({
    command,
    status: passed ? 'passed' : 'failed',
    details: output.slice(-1000),
  }))
  const claimed = what_tested.map(details => ({ command: null, status: 'claimed', details }))
  return { status, summary, files_changed, tests: [...checked, ...claimed], commits, what_open, next_steps }
}
