import { basename } from 'node:path'
import * as z from 'zod'
import { NotAllowed } from '../../domain/errors.ts'
import type { Project } from '../../domain/project.ts'
import { StageInput, WORKFLOW_STATUSES } from '../../domain/workflow.ts'
import { logLine } from '../briefing.ts'
import { Ref } from '../inputs.ts'
import { type Ask, aliasesOf } from './alias.ts'
import { executorOf } from './shared.ts'

const forWorkflows = aliasesOf({ knownFrom: 'codefleet', set: 'workflows' })

const WithWorkflow = z.object({ workflow_id: Ref })

interface View {
  id: string
  name: string
  status: (typeof WORKFLOW_STATUSES)[number]
  status_reason: { text: string } | null
  progress: string
  elapsed_seconds: number
  stages?: { name: string; status: string; settled: string | null; summary: string; mission_id: string }[]
}

const brief = ({ id, name, status, status_reason, progress, elapsed_seconds, stages }: View) => ({
  workflow_id: id,
  ...{ name, status, progress, elapsed_seconds },
  ...(status_reason && { reason: status_reason.text }),
  ...(stages && { stages: stages.map(({ settled, ...stage }) => ({ ...stage, ...(settled && { settled }) })) }),
})

/** The tools for workflows, under the names and with the inputs that clients know. */
export const WORKFLOW_TOOLS = [
  forWorkflows({
    name: 'create_workflow',
    summary:
      'Run a graph of stages on a repository, each done by an agent of its own, handing results on through {stage_N_summary} and the like. Returns at once; the last stages land by the policy of the project.',
    input: z.object({
      name: z.string().min(1).max(200),
      repo_path: z.string().min(1).max(4000).describe('the absolute path of the repository'),
      task_prompt: z.string().min(1).max(1_000_000),
      stages: z.array(StageInput).min(1),
      base_ref: z.string().min(1).max(250).optional().describe('empty: the base branch'),
      timeout_seconds: z.number().int().min(1).max(604_800).optional().describe('for each stage that names none'),
    }),
    run: async (ask, { repo_path, stages, timeout_seconds, ...same }) => {
      const project = await ask<Project>('create_project', {
        path: repo_path,
        name: basename(repo_path) || repo_path,
        if_exists: 'return',
      })
      const executor = await executorOf(ask)
      const timed = stages.map(stage => ({
        ...stage,
        agent: stage.agent ?? stage.executor ?? executor,
        timeout_seconds: stage.timeout_seconds ?? timeout_seconds ?? null,
      }))
      return brief(await ask<View>('create_workflow', { ...same, project_id: project.id, stages: timed }))
    },
  }),
  forWorkflows({
    name: 'get_workflow_status',
    summary: 'How far a workflow is: a progress bar, elapsed time, and a line for each stage.',
    input: WithWorkflow,
    readOnly: true,
    run: async (ask, input) => brief(await ask<View>('get_workflow', input)),
  }),
  forWorkflows({
    name: 'list_workflows',
    summary: 'List the newest workflows.',
    input: z.object({
      statuses: z.array(z.enum(WORKFLOW_STATUSES)).max(5).optional(),
      limit: z.number().int().min(1).max(200).default(25),
    }),
    readOnly: true,
    run: async (ask, { statuses, limit }) => {
      const lists = await Promise.all(
        (statuses?.length ? statuses : [undefined]).map(status =>
          ask<{ workflows: (View & { created_at: string })[] }>('list_workflows', { status, limit }),
        ),
      )
      const newest = lists
        .flatMap(({ workflows }) => workflows)
        .toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1))
      return { workflows: newest.slice(0, limit).map(brief) }
    },
  }),
  forWorkflows({
    name: 'cancel_workflow',
    summary: 'Stop a workflow; the work of its stages is kept on their branches.',
    input: WithWorkflow,
    run: async (ask, input) => brief(await ask<View>('cancel_workflow', input)),
  }),
  forWorkflows({
    name: 'collect_workflow_result',
    summary: 'What a workflow that is over came to: the results of its last stages, or of all.',
    input: WithWorkflow.extend({
      include_all_stages: z.boolean().default(false),
      include_logs: z.boolean().default(false).describe('with the last lines of each stage'),
    }),
    readOnly: true,
    run: async (ask, { workflow_id, include_all_stages, include_logs }) => {
      const { id, status } = await ask<View>('get_workflow', { workflow_id })
      if (status === 'making' || status === 'running')
        throw new NotAllowed(`Workflow ${id} is not over, so there is no result yet.`, {
          try: 'Ask again when get_workflow_status says that it is.',
        })
      const result = await ask<{ results: { mission_id: string }[] }>('collect_workflow_result', {
        workflow_id: id,
        include_all_stages,
      })
      if (!include_logs) return result
      const results = await Promise.all(
        result.results.map(async each => ({ ...each, logs: await lastLines(ask, each.mission_id) })),
      )
      return { ...result, results }
    },
  }),
  forWorkflows({
    name: 'cleanup_workflow',
    summary: 'Remove the worktrees of a workflow that is over; the commits stay under refs/fleet.',
    input: WithWorkflow,
    run: async (ask, input) => {
      const { worktrees } = await ask<{ worktrees: { path: string; kept_because?: string }[] }>(
        'cleanup_workflow',
        input,
      )
      return {
        removed: worktrees.filter(({ kept_because }) => !kept_because).map(({ path }) => path),
        kept: worktrees.filter(({ kept_because }) => kept_because),
      }
    },
  }),
]

async function lastLines(ask: Ask, mission_id: string): Promise<string[]> {
  const { sessions } = await ask<{ sessions: { id: string }[] }>('get_mission', { mission_id })
  const session_id = sessions.at(-1)?.id
  if (!session_id) return []
  const { events } = await ask<{ events: Record<string, unknown>[] }>('read_transcript', {
    session_id,
    limit: 40,
    last: true,
  })
  return events.flatMap(event => logLine(event) ?? [])
}
