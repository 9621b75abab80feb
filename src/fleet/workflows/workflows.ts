import { NotAllowed } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { Project } from '../../domain/records/project.ts'
import type { StageStatus } from '../../domain/records/stage-status.ts'
import {
  decideStages,
  isScriptStage,
  requireUnspliced,
  type Stage,
  type StageInput,
  Workflow,
} from '../../domain/records/workflow.ts'
import { doneAgain, reachedFrom } from '../../domain/rules/again.ts'
import * as life from '../../domain/rules/life.ts'
import type { Stored } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { isScript, isScriptAfter, requireCodingAgent } from '../missions/agents.ts'
import { startCommit } from '../missions/missions.ts'
import { requireStartable } from '../missions/requirements.ts'
import { all, current, lookUp, put } from '../records.ts'
import { aboutWorkflow } from './engine.ts'
import { type Plan, planOf, stageId } from './stages.ts'

export interface NewWorkflow {
  name: string
  project_id: string
  task: string
  stages: readonly StageInput[]
  tags: string[]
  /** A branch, tag or commit; null: the base branch, when a stage begins. */
  base_ref: string | null
}

/** Everything is decided and written down at once; the holder of the home makes the missions. */
export async function createWorkflow(fleet: Fleet, ask: Ask, asked: NewWorkflow): Promise<Stored<Workflow>> {
  const { value: project } = await lookUp(fleet, 'projects', asked.project_id)
  const stages = decideStages(asked.stages, agent => Boolean(agent) && isScript(fleet, ask, agent))
  if (stages.some(({ agent }) => !agent)) await requireCodingAgent(fleet, project)
  await requireStages(fleet, project, stages)
  const [task, definition] = await Promise.all([fleet.blobs.keep(asked.task), fleet.blobs.keep(JSON.stringify(stages))])
  const base_ref = asked.base_ref && (await startCommit(project, asked.base_ref))
  const id = await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'projects', project.id)
    if (value.deleting) throw new NotAllowed(`Project ${value.name} is being deleted.`)
    const when = by(fleet, ask)
    const workflow = Workflow.parse({
      id: newId(),
      name: asked.name,
      project_id: project.id,
      task,
      definition,
      stages: stages.length,
      status: 'making',
      base_ref,
      tags: asked.tags,
      created_at: when.now,
      updated_at: when.now,
    })
    return {
      subject: workflow.id,
      changes: [put('workflows', workflow, 'absent')],
      checks: [{ collection: 'projects' as const, id: project.id, expects: version }],
      events: [aboutWorkflow(workflow, 'workflow_created', when, { name: workflow.name, stages: stages.length })],
    }
  })
  return current(fleet, 'workflows', id)
}

/** What a stage would be refused for when its turn comes is said before anything is done. */
export async function requireStages(fleet: Fleet, project: Project, stages: readonly Stage[]): Promise<void> {
  const missions = stages.map(({ name, agent, model, effort, tool_preset, approvals, max_turns, max_budget_usd }) => ({
    called: `Stage ${name}`,
    settings: { agent, model, effort, tool_preset, approvals, max_turns, max_budget_usd },
  }))
  await requireStartable(fleet, project, missions)
}

/** Nothing new begins; what is at work is stopped by the holder. */
export async function cancelWorkflow(fleet: Fleet, ask: Ask, id: string): Promise<Stored<Workflow>> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'workflows', id)
    if (value.status !== 'making' && value.status !== 'running')
      throw new NotAllowed(`Workflow ${id} is ${value.status}.`, { try: `fleet workflow show ${id}` })
    const when = by(fleet, ask)
    const next: Workflow = { ...value, status: 'cancelled', ended_at: when.now, updated_at: when.now }
    return {
      subject: id,
      changes: [put('workflows', next, version)],
      events: [aboutWorkflow(value, 'workflow_cancelled', when)],
    }
  })
  return current(fleet, 'workflows', id)
}

export async function cancelStages(fleet: Fleet, id: string): Promise<void> {
  for await (const { value } of all(fleet, 'missions', 'workflow', [id]))
    await retryOnConflict(async () => {
      const { value: mission, version } = await current(fleet, 'missions', value.id)
      const atWork = !['draft', 'done', 'failed', 'cancelled'].includes(mission.status)
      if (!atWork || mission.cancel_requested) return
      const step = life.cancel(mission, { actor: 'fleet', now: fleet.now() })
      await fleet.commit('commit.stage', { changes: [put('missions', step.mission, version)], events: step.events })
    })
}

/** Whatever failed or was stopped is done again; what is done stays done. */
export async function retryWorkflow(fleet: Fleet, ask: Ask, id: string): Promise<Stored<Workflow>> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'workflows', id)
    if (value.status !== 'failed' && value.status !== 'cancelled')
      throw new NotAllowed(`Workflow ${id} is ${value.status}, so there is nothing to try again.`)
    if (value.open > 0)
      throw new NotAllowed(`Workflow ${id} is still being stopped.`, { try: `fleet workflow show ${id}` })
    const plan = await planOf(fleet, id)
    const settled = await Promise.all(
      plan.stages.map(async (stage, at) => {
        const mission = await fleet.store.get('missions', stageId(id, at, stage))
        return mission?.value.workflow?.settled ?? null
      }),
    )
    if (settled.filter(Boolean).length !== value.over)
      throw new NotAllowed(`A stage of workflow ${id} was deleted.`, { try: 'Run the workflow anew.' })
    const { first, anew } = doneAgain({ ...plan, settled })
    const when = by(fleet, ask)
    const next = { ...(await withAnew(fleet, value, plan, new Set(anew), settled)), again: first, updated_at: when.now }
    return {
      subject: id,
      changes: [put('workflows', next, version)],
      events: [aboutWorkflow(value, 'workflow_retried', when)],
    }
  })
  return current(fleet, 'workflows', id)
}

/** The same workflow, to be taken up again with other missions for some of its stages. */
async function withAnew(
  fleet: Fleet,
  workflow: Workflow,
  { stages }: Pick<Plan, 'stages'>,
  anew: ReadonlySet<number>,
  settled: readonly (StageStatus | null)[],
): Promise<Workflow> {
  const next = stages.map((stage, at) => ({ ...stage, generation: stage.generation + (anew.has(at) ? 1 : 0) }))
  return {
    ...workflow,
    definition: await fleet.blobs.keep(JSON.stringify(next)),
    status: 'making',
    status_reason: null,
    over: workflow.over - [...anew].filter(at => settled[at]).length,
    failed: workflow.failed.filter(name => !stages.some((stage, at) => anew.has(at) && stage.name === name)),
    ended_at: null,
  }
}

/** Changes one stage. It and all that depends on it are done anew; whatever else is finished stays so. */
export async function changeStage(
  fleet: Fleet,
  ask: Ask,
  id: string,
  name: string,
  change: Partial<Pick<Stage, 'prompt' | 'agent' | 'model'>>,
): Promise<Stored<Workflow>> {
  const text = change.prompt !== undefined
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'workflows', id)
    const plan = await planOf(fleet, id)
    const index = plan.stages.findIndex(stage => stage.name === name)
    if (index === -1)
      throw new NotAllowed(`Workflow ${id} has no stage ${JSON.stringify(name)}.`, { try: `fleet workflow show ${id}` })
    if (value.status === 'making' || value.status === 'running' || value.open > 0)
      throw new NotAllowed(`Workflow ${id} is at work.`, {
        try: `fleet workflow cancel ${id}, or wait until it is over`,
      })
    const anew = reachedFrom(plan.after, index)
    const before = { script: isScriptStage(plan.stages[index]!) }
    const script = isScriptAfter(fleet, ask, before, { agent: change.agent, text })
    const changed = { ...plan.stages[index]!, ...change, script }
    const stages = plan.stages.map((stage, at) => (at === index ? changed : stage))
    requireUnspliced(stages, changed, 'prompt')
    await requireStages(fleet, (await current(fleet, 'projects', value.project_id)).value, [changed])
    const settled = await Promise.all(
      plan.stages.map(async (stage, at) => {
        const mission = anew.has(at) ? await current(fleet, 'missions', stageId(id, at, stage)) : undefined
        return mission?.value.workflow?.settled ?? null
      }),
    )
    const when = by(fleet, ask)
    const next = { ...(await withAnew(fleet, value, { stages }, anew, settled)), updated_at: when.now }
    return {
      subject: id,
      changes: [put('workflows', next, version)],
      events: [aboutWorkflow(value, 'workflow_changed', when, { stage: name, anew: anew.size })],
    }
  })
  return current(fleet, 'workflows', id)
}
