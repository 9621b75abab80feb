import * as z from 'zod'
import { InvalidInput } from '../domain/errors.ts'
import type { Mission } from '../domain/records/mission.ts'
import { StatusReason } from '../domain/records/mission.ts'
import { STAGE_STATUSES } from '../domain/records/stage-status.ts'
import { StageInput, WORKFLOW_STATUSES, Workflow } from '../domain/records/workflow.ts'
import { LIBRARY, Recipe, readyMade } from '../domain/rules/workflow-library.ts'
import { headOf } from '../domain/text.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { all, lookUp, newestReport } from '../fleet/records.ts'
import { type Plan, planOf, resultOf, stageId } from '../fleet/workflows/stages.ts'
import * as workflowsOf from '../fleet/workflows/workflows.ts'
import { clean } from '../fleet/worktrees/cleaning.ts'
import { ask, Paging, ProjectRef, Ref } from './inputs.ts'
import { type Context, command, type Operation, query } from './operation.ts'
import { Cleaned } from './views.ts'

const BAR_CELLS = 20

const StageView = z.object({
  name: z.string(),
  depends_on: z.array(z.string()),
  agent: z.string().nullable(),
  model: z.string().nullable(),
  subdirectory: z.string().describe('where in the repository its agent starts'),
  mission_id: z.string(),
  status: z.string().describe('the status of its mission; made: the mission does not exist yet'),
  settled: z.enum(STAGE_STATUSES).nullable().describe('how it ended; empty: it is not over'),
  summary: z.string().describe('one line'),
  elapsed_seconds: z.number().nullable(),
})

const WorkflowRow = Workflow.omit({ task: true, definition: true, again: true, stages: true }).extend({
  stage_count: z.number(),
  task_prompt: z.string().describe('in lists, only its beginning'),
  progress: z.string().describe('a bar, and how many stages are over'),
  elapsed_seconds: z.number(),
  waits_for: z
    .array(z.object({ stage: z.string(), mission_id: z.string(), text: z.string() }))
    .describe('its stages that wait for a person, and for what'),
})
export const WorkflowView = WorkflowRow.extend({ stages: z.array(StageView) })

function row(fleet: Fleet, workflow: Workflow, waiting: Waiting): z.infer<typeof WorkflowRow> {
  const { task, definition, again, stages, ...shown } = workflow
  return {
    ...shown,
    waits_for: waiting.get(workflow.id) ?? [],
    stage_count: stages,
    task_prompt: headOf(task),
    progress: progressBar(workflow),
    elapsed_seconds: secondsBetween(workflow.created_at, workflow.ended_at ?? fleet.now()),
  }
}

type Waiting = Map<string, z.infer<typeof WorkflowRow>['waits_for']>
const MOST_WAITING = 500

/** All stages that wait for a person, read in one go: few missions wait, but a workflow may have thousands. */
async function waitingStages(fleet: Fleet): Promise<Waiting> {
  const statuses = ['needs_input', 'review']
  const pages = await Promise.all(
    statuses.map(status => fleet.store.find('missions', { index: 'status', equals: [status], limit: MOST_WAITING })),
  )
  const waiting: Waiting = new Map()
  for (const { id, title, workflow, status_reason } of pages.flatMap(({ items }) => items.map(({ value }) => value)))
    if (workflow) {
      const text = status_reason?.text ?? 'It waits for a person.'
      waiting.set(workflow.id, [...(waiting.get(workflow.id) ?? []), { stage: title, mission_id: id, text }])
    }
  return waiting
}

function progressBar({ over, stages }: Workflow): string {
  const filled = Math.round((over / stages) * BAR_CELLS)
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_CELLS - filled)} ${over}/${stages}`
}

const secondsBetween = (from: string, to: string): number => Math.round((Date.parse(to) - Date.parse(from)) / 1000)

export async function workflowView(fleet: Fleet, id: string): Promise<z.infer<typeof WorkflowView>> {
  const plan = await planOf(fleet, id)
  const task_prompt = await fleet.blobs.read(plan.workflow.task)
  const stages = await Promise.all(plan.stages.keys().map(index => stageView(fleet, plan, index)))
  return { ...row(fleet, plan.workflow, await waitingStages(fleet)), task_prompt, stages }
}

async function stageView(fleet: Fleet, plan: Plan, index: number): Promise<z.infer<typeof StageView>> {
  const stage = plan.stages[index]!
  const mission_id = stageId(plan.workflow.id, index, stage)
  const mission = (await fleet.store.get('missions', mission_id))?.value
  return {
    name: stage.name,
    depends_on: stage.depends_on.map(each => plan.stages[each]!.name),
    agent: stage.agent,
    model: stage.model,
    subdirectory: stage.subdirectory ?? '',
    mission_id,
    status: mission?.status ?? 'made',
    settled: mission?.workflow?.settled ?? null,
    summary: mission ? await oneLine(fleet, mission) : '',
    elapsed_seconds: mission?.started_at ? secondsBetween(mission.started_at, mission.ended_at ?? fleet.now()) : null,
  }
}

async function oneLine(fleet: Fleet, mission: Mission): Promise<string> {
  const text = mission.status_reason?.text || (await newestReport(fleet, mission.id))?.summary || ''
  return text.split('\n')[0]!.slice(0, 200)
}

/** Undefined: there is no such ready-made workflow, or it misses something. The operation says so. */
function wantedStages(input: Recipe & { stages?: StageInput[]; use?: string }): StageInput[] | undefined {
  if (input.stages || !input.use) return input.stages
  try {
    return readyMade(input.use, input)
  } catch {
    return undefined
  }
}

const WithWorkflow = z.object({ workflow_id: Ref })

function onWorkflow<const N extends string>(
  name: N,
  summary: string,
  run: (context: Context, id: string) => Promise<unknown>,
  mcp: Operation['mcp'] = 'planning',
) {
  return command({
    may: 'workflows.run',
    mcp,
    name,
    summary,
    http: `POST /api/workflows/:workflow_id/${name.split('_')[0]}`,
    needsFleet: true,
    input: WithWorkflow,
    output: WorkflowView,
    run: async (context, { workflow_id }) => {
      const { value } = await lookUp(context.fleet, 'workflows', workflow_id)
      await run(context, value.id)
      return workflowView(context.fleet, value.id)
    },
  })
}

export const workflows = [
  command({
    name: 'create_workflow',
    may: 'workflows.run',
    mcp: { set: 'planning', name: 'create_workflow_in_full' },
    summary: 'Run a graph of stages; each is a mission that passes its result on',
    http: 'POST /api/workflows',
    needsFleet: true,
    input: z.object({
      name: Workflow.shape.name.optional().describe('empty: the ready-made one it uses, or the beginning of the task'),
      project_id: ProjectRef,
      task_prompt: z.string().max(1_000_000).default(''),
      stages: z.array(StageInput).optional(),
      use: z
        .string()
        .max(60)
        .optional()
        .describe(`a ready-made one instead of stages: ${Object.keys(LIBRARY).join(', ')}`),
      ...Recipe.shape,
      base_ref: z
        .string()
        .min(1)
        .max(250)
        .optional()
        .describe('a branch, tag or commit to start from; empty: the base branch'),
      tags: Workflow.shape.tags,
    }),
    // A winner lands as soon as it is chosen, whatever the policy of the project is.
    mayAlso: input => (wantedStages(input)?.some(({ chooses }) => chooses) ? ['missions.land'] : []),
    output: WorkflowView,
    run: async (context, { project_id, task_prompt, stages, use, name, tags, base_ref, ...recipe }) => {
      if ((stages === undefined) === (use === undefined))
        throw new InvalidInput('stages', 'give either the stages or the name of a ready-made workflow')
      const { value } = await workflowsOf.createWorkflow(context.fleet, ask(context, 'create_workflow'), {
        name: name ?? use ?? (task_prompt.split('\n')[0]!.slice(0, 80) || 'workflow'),
        project_id,
        task: task_prompt,
        stages: stages ?? readyMade(use!, recipe),
        tags,
        base_ref: base_ref ?? null,
      })
      return workflowView(context.fleet, value.id)
    },
  }),
  query({
    name: 'list_ready_made_workflows',
    may: 'missions.read',
    mcp: 'planning',
    summary: 'List the ready-made workflows',
    http: 'GET /api/ready-made-workflows',
    input: z.object({}),
    output: z.object({ workflows: z.array(z.object({ name: z.string(), summary: z.string() })) }),
    run: async () => ({
      workflows: Object.entries(LIBRARY).map(([name, { summary }]) => ({ name, summary })),
    }),
  }),
  query({
    name: 'list_workflows',
    may: 'missions.read',
    mcp: { set: 'planning', name: 'list_workflows_in_full' },
    summary: 'List workflows, newest first',
    http: 'GET /api/workflows',
    input: z.object({ project_id: ProjectRef.optional(), status: z.enum(WORKFLOW_STATUSES).optional(), ...Paging }),
    output: z.object({ workflows: z.array(WorkflowRow), cursor: z.string().optional() }),
    run: async ({ fleet }, { project_id, status, limit, cursor }) => {
      const project = project_id && (await lookUp(fleet, 'projects', project_id)).value.id
      if (project && status) throw new InvalidInput('status', 'cannot be combined with project_id')
      const where = project
        ? { index: 'project', equals: [project] }
        : status
          ? { index: 'status', equals: [status] }
          : { index: 'created' }
      const page = await fleet.store.find('workflows', { ...where, limit, cursor, newestFirst: true })
      const waiting = await waitingStages(fleet)
      return { workflows: page.items.map(item => row(fleet, item.value, waiting)), cursor: page.cursor }
    },
  }),
  query({
    name: 'get_workflow',
    may: 'missions.read',
    mcp: 'planning',
    summary: 'Show a workflow and the progress of each stage',
    http: 'GET /api/workflows/:workflow_id',
    input: WithWorkflow,
    output: WorkflowView,
    run: async ({ fleet }, { workflow_id }) =>
      workflowView(fleet, (await lookUp(fleet, 'workflows', workflow_id)).value.id),
  }),
  onWorkflow(
    'cancel_workflow',
    'Cancel a workflow; the work of its stages is kept',
    (context, id) => workflowsOf.cancelWorkflow(context.fleet, ask(context, 'cancel_workflow'), id),
    { set: 'planning', name: 'cancel_workflow_in_full' },
  ),
  onWorkflow('retry_workflow', 'Retry what failed or was stopped; finished stages stay as they are', (context, id) =>
    workflowsOf.retryWorkflow(context.fleet, ask(context, 'retry_workflow'), id),
  ),
  command({
    name: 'change_workflow_stage',
    may: 'workflows.run',
    mcp: 'planning',
    summary: 'Change a stage of a workflow that is over, and run it and its dependents again',
    http: 'PUT /api/workflows/:workflow_id/stages/:stage',
    needsFleet: true,
    input: WithWorkflow.extend({
      stage: z.string().min(1).max(120).describe('its name'),
      prompt: z.string().min(1).max(200_000).optional(),
      agent: StageInput.shape.agent.unwrap().optional(),
      model: StageInput.shape.model.unwrap().optional(),
    }),
    output: WorkflowView,
    run: async (context, { workflow_id, stage, ...change }) => {
      const { value } = await lookUp(context.fleet, 'workflows', workflow_id)
      const given = Object.fromEntries(Object.entries(change).filter(([, each]) => each !== undefined))
      await workflowsOf.changeStage(context.fleet, ask(context, 'change_workflow_stage'), value.id, stage, given)
      return workflowView(context.fleet, value.id)
    },
  }),
  query({
    name: 'collect_workflow_result',
    may: 'missions.read',
    mcp: { set: 'planning', name: 'collect_workflow_result_in_full' },
    summary: 'Show the result of a workflow: of its last stages, or of all',
    http: 'GET /api/workflows/:workflow_id/result',
    input: WithWorkflow.extend({ include_all_stages: z.boolean().default(false) }),
    output: z.object({
      workflow_id: z.string(),
      status: z.enum(WORKFLOW_STATUSES),
      status_reason: StatusReason.nullable(),
      results: z.array(
        z.object({ stage: z.string(), mission_id: z.string(), result: z.record(z.string(), z.unknown()) }),
      ),
    }),
    run: async ({ fleet }, { workflow_id, include_all_stages }) => {
      const { id } = (await lookUp(fleet, 'workflows', workflow_id)).value
      const plan = await planOf(fleet, id)
      const wanted = [...plan.stages.keys()].filter(index => include_all_stages || plan.after[index]!.length === 0)
      const results = await Promise.all(
        wanted.map(async index => {
          const mission_id = stageId(id, index, plan.stages[index]!)
          const mission = (await fleet.store.get('missions', mission_id))?.value
          const result = mission ? resultOf(mission, await newestReport(fleet, mission_id)) : {}
          return { stage: plan.stages[index]!.name, mission_id, result: result as Record<string, unknown> }
        }),
      )
      return { workflow_id: id, status: plan.workflow.status, status_reason: plan.workflow.status_reason, results }
    },
  }),
  command({
    name: 'cleanup_workflow',
    may: 'workflows.run',
    mcp: { set: 'planning', name: 'cleanup_workflow_in_full' },
    summary: 'Remove the worktrees of a workflow that is over; their work stays in the repository as refs',
    http: 'POST /api/workflows/:workflow_id/cleanup',
    inServer: true,
    input: WithWorkflow,
    output: Cleaned,
    run: async ({ fleet }, { workflow_id }) => {
      const { value } = await lookUp(fleet, 'workflows', workflow_id)
      const missions = await Array.fromAsync(all(fleet, 'missions', 'workflow', [value.id]))
      const ids = new Set(missions.map(({ value: mission }) => mission.id))
      return clean(fleet, { olderThanHours: 0, dryRun: false, keepBranches: false, missions: ids })
    },
  }),
]
