import * as z from 'zod'
import { InvalidInput, NotAllowed } from '../../domain/errors.ts'
import type { Project } from '../../domain/records/project.ts'
import { logLine } from '../briefing.ts'
import { Ref } from '../inputs.ts'
import type { MissionView } from '../views.ts'
import { type Ask, aliasesOf } from './alias.ts'
import {
  listSummary,
  ourStatuses,
  WORKER,
  WORKER_STATUSES,
  workerAnswer,
  workerResult,
  workerStatus,
} from './codefleet.ts'
import { Agent, type Detail, executorOf, type Missions, Model, placeIn } from './shared.ts'

const forWorkers = aliasesOf({ knownFrom: 'codefleet', set: 'workers' })

const WithWorker = z.object({ worker_id: Ref })
const Arguments = z.array(z.string()).optional().describe('not supported: leave it out')

/** The tools for workers, which are missions that do not land. */
export const WORKER_TOOLS = [
  forWorkers({
    name: 'healthcheck',
    summary: 'Whether the fleet is up, how full it is and which coding agents are installed.',
    input: z.object({}),
    readOnly: true,
    run: async ask => {
      const [status, { agents }, defaults] = await Promise.all([
        ask<{ version: string; paused: boolean; live_sessions: object[]; max_concurrent: number }>('system_status', {}),
        ask<{ agents: Executor[] }>('list_agents', {}),
        ask<{ default_model: string | null }>('get_engine', {}),
      ])
      const { version, paused, live_sessions, max_concurrent } = status
      return {
        ok: agents.some(({ installed }) => installed),
        app: 'flotilla',
        ...{ version, paused, running: live_sessions.length, max_concurrent },
        ...Object.assign({}, ...agents.map(executorFacts)),
        default_executor: await executorOf(ask),
        default_model: defaults.default_model,
        supported_models: Object.fromEntries(agents.map(({ name, models }) => [name, models.map(each => each.name)])),
      }
    },
  }),
  forWorkers({
    name: 'create_worker',
    summary:
      'Send an agent to work on a repository, in a worktree and on a branch of its own, and return at once. Its work stays on that branch; collect_worker_result says what it did.',
    input: z.object({
      repo_path: z
        .string()
        .min(1)
        .max(4000)
        .describe('the absolute path of the repository, or of a folder in it to work in'),
      task_name: z.string().min(1).max(300),
      prompt: z.string().min(1).max(1_000_000),
      base_ref: z.string().min(1).max(250).default('HEAD').describe('the branch, tag or commit it starts from'),
      model: Model,
      executor: Agent,
      reasoning_effort: z.string().max(20).optional().describe('reasoning effort, such as low or high'),
      timeout_seconds: z.number().int().min(1).max(604_800).optional(),
      profile: z.string().optional().describe('not supported: leave it out'),
      tags: z.array(z.string().min(1).max(60)).max(19).default([]),
      metadata: z
        .record(z.string(), z.unknown())
        .default({})
        .describe('stored with the worker and returned with its status'),
      extra_args: Arguments,
      extra_codex_args: Arguments,
      parent_worker_id: Ref.optional(),
    }),
    run: async (ask, input) => {
      requireOwnArguments(input)
      const { project, subdirectory } = await placeIn(ask, input.repo_path)
      const mission = await ask<MissionView>('create_mission', {
        project_id: project.id,
        subdirectory,
        title: input.task_name,
        prompt: input.prompt,
        base_ref: input.base_ref,
        agent: input.executor ?? (await executorOf(ask)),
        model: input.model,
        effort: input.reasoning_effort,
        timeout_seconds: input.timeout_seconds,
        tags: [...new Set([WORKER, ...input.tags])],
        metadata: input.metadata,
        parent_mission_id: input.parent_worker_id,
        landing: 'never',
        auto_dispatch: true,
      })
      return workerAnswer(mission, undefined, project, Date.now())
    },
  }),
  forWorkers({
    name: 'get_worker_status',
    summary: 'Show a worker: its status, elapsed time and a one-line summary.',
    input: WithWorker,
    readOnly: true,
    run: async (ask, { worker_id }) => statusOf(ask, await ask<Detail>('get_mission', { mission_id: worker_id })),
  }),
  forWorkers({
    name: 'list_workers',
    summary: 'List the newest workers.',
    input: z.object({
      statuses: z.array(z.enum(WORKER_STATUSES)).max(10).optional(),
      limit: z.number().int().min(1).max(200).default(25),
    }),
    readOnly: true,
    run: async (ask, { statuses, limit }) => {
      const status = ourStatuses(statuses)
      const { missions } = await ask<Missions>('list_missions', { tag: WORKER, limit, ...(status && { status }) })
      const wanted = missions.filter(each => !statuses?.length || statuses.includes(workerStatus(each)))
      const projects = await projectsOf(ask, wanted)
      const now = Date.now()
      const workers = wanted.map(each => workerAnswer(each, undefined, projects.get(each.project_id)!, now))
      return { workers, count: workers.length, summary: listSummary(workers, 'workers') }
    },
  }),
  forWorkers({
    name: 'collect_worker_result',
    summary:
      'A worker with its result: summary, files and commits as git saw them, tests, next steps. null: there is none yet.',
    input: WithWorker.extend({
      include_logs: z.boolean().default(false),
      log_tail_lines: z.number().int().min(1).max(500).default(80),
    }),
    readOnly: true,
    run: (ask, { worker_id, include_logs, log_tail_lines }) =>
      collected(ask, worker_id, include_logs ? log_tail_lines : 0),
  }),
  forWorkers({
    name: 'cancel_worker',
    summary: 'Stop a worker; its work is kept on its branch.',
    input: WithWorker,
    run: async (ask, { worker_id }) => {
      const { id } = await ask<MissionView>('cancel_mission', { mission_id: worker_id })
      // Its processes may take a moment to end, but it can only end as cancelled.
      return statusOf(ask, { ...(await ask<Detail>('get_mission', { mission_id: id })), status: 'cancelled' })
    },
  }),
  forWorkers({
    name: 'cleanup_worker',
    summary: 'Remove the worktree of a worker that is over, and its branch; the commits stay under refs/fleet.',
    input: WithWorker.extend({
      remove_branch: z.boolean().default(true),
      remove_worktree_dir: z.boolean().default(true).describe('has no effect'),
    }),
    run: async (ask, { worker_id, remove_branch }) => {
      const mission = await ask<Detail>('get_mission', { mission_id: worker_id })
      if (['pending', 'running'].includes(workerStatus(mission)))
        throw new NotAllowed(`Worker ${mission.id} is ${mission.status}, so its worktree is needed.`, {
          try: 'Cancel it first: cancel_worker.',
        })
      return cleanedUp(ask, mission, remove_branch)
    },
  }),
]

interface Executor {
  name: string
  installed: boolean
  path?: string
  version?: string
  signed_in?: boolean
  models: { name: string }[]
}

function executorFacts({ name, installed, path, version, signed_in }: Executor): Record<string, unknown> {
  const signedIn = signed_in === undefined ? 'unknown' : signed_in ? 'authenticated' : 'not_authenticated'
  return {
    [`${name}_found`]: installed,
    [`${name}_path`]: path ?? '',
    [`${name}_version`]: version ?? '',
    [`${name}_auth_status`]: signedIn,
  }
}

const statusOf = async (ask: Ask, mission: Detail) =>
  workerAnswer(
    mission,
    mission.sessions.at(-1),
    await ask<Project>('get_project', { project_id: mission.project_id }),
    Date.now(),
  )

/** A worker with its result and, if asked for, the end of what it printed. */
export async function collected(ask: Ask, id: string, tailLines: number) {
  const mission = await ask<Detail>('get_mission', { mission_id: id })
  return {
    ...(await statusOf(ask, mission)),
    result: workerResult(mission),
    ...(tailLines && (await tailsOf(ask, mission.sessions.at(-1)?.id, tailLines))),
  }
}

async function tailsOf(ask: Ask, session_id: string | undefined, limit: number) {
  if (!session_id) return { stdout_tail: '', stderr_tail: '' }
  const { events } = await ask<{ events: { stream: string }[] }>('read_transcript', { session_id, limit, last: true })
  const tail = (of: string): string =>
    events.flatMap(event => (event.stream === of ? (logLine({ ...event }) ?? []) : [])).join('\n')
  return { stdout_tail: tail('stdout'), stderr_tail: tail('stderr') }
}

async function projectsOf(ask: Ask, missions: readonly MissionView[]): Promise<Map<string, Project>> {
  const ids = [...new Set(missions.map(({ project_id }) => project_id))]
  const projects = await Promise.all(ids.map(project_id => ask<Project>('get_project', { project_id })))
  return new Map(projects.map(project => [project.id, project]))
}

async function cleanedUp(ask: Ask, { id, branch }: Detail, remove_branch: boolean) {
  const { worktrees } = await ask<{ worktrees: { path: string; kept_because?: string }[] }>('clean', {
    mission_id: id,
    keep_branches: !remove_branch,
  })
  const kept = worktrees.filter(({ kept_because }) => kept_because)
  const errors = kept.map(({ path, kept_because }) => `The worktree ${path} stays: ${kept_because}.`)
  const ordinary = remove_branch && !worktrees.length && branch && !branch.startsWith('refs/')
  if (ordinary) errors.push(`${branch} is an ordinary branch by now: git branch -D ${branch}`)
  return {
    worker_id: id,
    worktree_removed: !kept.length,
    branch_removed: remove_branch && !errors.length,
    worker_dir_removed: !kept.length,
    errors,
  }
}

/** An agent that is started with arguments of a stranger's choice could not be held to a preset. */
export function requireOwnArguments(given: Record<string, unknown>): void {
  const field = ['extra_args', 'extra_codex_args', 'profile'].find(name => ([given[name]].flat()[0] ?? '') !== '')
  if (field)
    throw new InvalidInput(field, 'agents are started with the arguments their adapters know', {
      try: 'Leave it out; model, executor, reasoning_effort and timeout_seconds can be set.',
    })
}
