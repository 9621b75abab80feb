import { basename } from 'node:path'
import * as z from 'zod'
import { InvalidInput, NotAllowed } from '../../domain/errors.ts'
import { Status } from '../../domain/mission.ts'
import type { Project } from '../../domain/project.ts'
import type { Report } from '../../domain/report.ts'
import { type Brief, briefOf, logLine } from '../briefing.ts'
import { Ref } from '../inputs.ts'
import type { MissionView } from '../views.ts'
import { type Ask, aliasesOf } from './alias.ts'
import { Agent, briefs, type Detail, executorOf, type Missions, Model, statusOf } from './shared.ts'

const forWorkers = aliasesOf({ knownFrom: 'codefleet', set: 'workers' })

const WithWorker = z.object({ worker_id: Ref })

/** Tells workers from other missions. */
const WORKER = 'worker'
const workerBrief = ({ mission_id, ...brief }: Brief) => ({ worker_id: mission_id, ...brief })

/** The tools for workers, which are missions that do not land. */
export const WORKER_TOOLS = [
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
        agent: executor ?? (await executorOf(ask)),
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
  const { status, summary, files_changed, commits, tests, what_tested, what_open, next_steps } = report
  const checked = evidence.map(({ command, passed, output }) => ({
    command,
    status: passed ? 'passed' : 'failed',
    details: output.slice(-1000),
  }))
  const claimed = what_tested.map(details => ({ command: null, status: 'claimed', details }))
  return { status, summary, files_changed, tests: [...checked, ...tests, ...claimed], commits, what_open, next_steps }
}
