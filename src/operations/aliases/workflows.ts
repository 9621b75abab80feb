import * as z from 'zod'
import type { Project } from '../../domain/records/project.ts'
import { StageInput } from '../../domain/records/workflow.ts'
import { Ref } from '../inputs.ts'
import { type Ask, aliasesOf } from './alias.ts'
import {
  listSummary,
  type OurWorkflowStatus,
  WORKFLOW_WORDS,
  type WorkerStatus,
  type WorkflowTold,
  workflowAnswer,
} from './codefleet.ts'
import { executorOf, placeIn } from './shared.ts'
import { collected, requireOwnArguments } from './workers.ts'

const forWorkflows = aliasesOf({ knownFrom: 'codefleet', set: 'workflows' })

const WithWorkflow = z.object({ workflow_id: Ref })
const STATUSES = Object.values(WORKFLOW_WORDS)
const TAIL_LINES = 80

/** Stages as its clients write them: they may name arguments as long as the list is empty. */
const Stage = StageInput.extend({
  reasoning_effort: StageInput.shape.reasoning_effort.nullish(),
  extra_args: z.array(z.string()).nullish().describe('not supported: leave it out'),
})

/** The tools for workflows, under the names and with the inputs that clients know. */
export const WORKFLOW_TOOLS = [
  forWorkflows({
    name: 'create_workflow',
    summary:
      'Run a graph of stages on a repository, each done by its own agent. Results are passed on through {stage_N_summary} and similar variables. Returns at once; the last stages land by the policy of the project.',
    input: z.object({
      name: z.string().min(1).max(200),
      repo_path: z
        .string()
        .min(1)
        .max(4000)
        .describe('the absolute path of the repository, or of a folder in it to work in'),
      task_prompt: z.string().min(1).max(1_000_000),
      stages: z.array(Stage).min(1),
      base_ref: z.string().min(1).max(250).optional().describe('empty: the base branch'),
      timeout_seconds: z.number().int().min(1).max(604_800).optional().describe('for each stage that names none'),
    }),
    run: async (ask, { repo_path, stages, timeout_seconds, ...same }) => {
      for (const stage of stages) requireOwnArguments(stage)
      const { project, subdirectory } = await placeIn(ask, repo_path)
      const executor = await executorOf(ask)
      const decided = stages.map(({ extra_args, reasoning_effort, ...stage }) => ({
        ...stage,
        subdirectory: stage.subdirectory || subdirectory,
        agent: stage.agent ?? stage.executor ?? executor,
        effort: stage.effort ?? reasoning_effort ?? null,
        timeout_seconds: stage.timeout_seconds ?? timeout_seconds ?? null,
      }))
      const wanted = { ...same, project_id: project.id, stages: decided }
      return workflowAnswer(await ask<WorkflowTold>('create_workflow', wanted), project, Date.now())
    },
  }),
  forWorkflows({
    name: 'get_workflow_status',
    summary: 'Show the progress of a workflow: elapsed time, and a line for each stage.',
    input: WithWorkflow,
    readOnly: true,
    run: (ask, { workflow_id }) => told(ask, workflow_id),
  }),
  forWorkflows({
    name: 'list_workflows',
    summary: 'List the newest workflows.',
    input: z.object({
      statuses: z.array(z.enum(STATUSES)).max(5).optional(),
      limit: z.number().int().min(1).max(200).default(25),
    }),
    readOnly: true,
    run: async (ask, { statuses, limit }) => {
      const wanted = oursOf(statuses ?? [])
      const lists = await Promise.all(
        (wanted.length ? wanted : [undefined]).map(status =>
          ask<{ workflows: WorkflowTold[] }>('list_workflows', { status, limit }),
        ),
      )
      const newest = lists
        .flatMap(({ workflows }) => workflows)
        .toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1))
        .slice(0, limit)
      const workflows = await Promise.all(newest.map(({ id }) => told(ask, id)))
      return { workflows, count: workflows.length, summary: listSummary(workflows, 'workflows') }
    },
  }),
  forWorkflows({
    name: 'cancel_workflow',
    summary: 'Stop a workflow; the work of its stages is kept on their branches.',
    input: WithWorkflow,
    run: async (ask, input) => told(ask, (await ask<WorkflowTold>('cancel_workflow', input)).id),
  }),
  forWorkflows({
    name: 'collect_workflow_result',
    summary: 'Show the result of a workflow: of its last stage, or of all. null: there is none yet.',
    input: WithWorkflow.extend({
      include_all_stages: z.boolean().default(false),
      include_logs: z.boolean().default(false).describe('with the last lines of each stage'),
    }),
    readOnly: true,
    run: async (ask, { workflow_id, include_all_stages, include_logs }) => {
      const workflow = await told(ask, workflow_id)
      const resultOf = async (stage: (typeof workflow.stage_summary)[number] | undefined) =>
        stage?.worker_id ? collected(ask, stage.worker_id, include_logs ? TAIL_LINES : 0) : null
      if (!include_all_stages) return { ...workflow, final_result: await resultOf(workflow.stage_summary.at(-1)) }
      const stage_results = await Promise.all(
        workflow.stage_summary.map(async stage => {
          const { index, name, status } = stage
          return { index, name, status, result: await resultOf(stage) }
        }),
      )
      return { ...workflow, stage_results }
    },
  }),
  forWorkflows({
    name: 'cleanup_workflow',
    summary: 'Remove the worktrees of a workflow that is over; the commits stay under refs/fleet.',
    input: WithWorkflow,
    run: async (ask, input) => {
      const { id, stages } = await ask<WorkflowTold>('get_workflow', input)
      const { worktrees } = await ask<Cleaned>('cleanup_workflow', input)
      const kept = worktrees.filter(({ kept_because }) => kept_because)
      return {
        workflow_id: id,
        stages_cleaned: stages.filter(stage => !kept.some(each => each.mission_id === stage.mission_id)).length,
        errors: kept.map(({ path, kept_because }) => `The worktree ${path} stays: ${kept_because}.`),
      }
    },
  }),
]

interface Cleaned {
  worktrees: { mission_id: string; path: string; kept_because?: string }[]
}

const oursOf = (theirs: readonly WorkerStatus[]): OurWorkflowStatus[] =>
  (Object.keys(WORKFLOW_WORDS) as OurWorkflowStatus[]).filter(each => theirs.includes(WORKFLOW_WORDS[each]))

async function told(ask: Ask, workflow_id: string) {
  const workflow = await ask<WorkflowTold>('get_workflow', { workflow_id })
  return workflowAnswer(workflow, await ask<Project>('get_project', { project_id: workflow.project_id }), Date.now())
}
