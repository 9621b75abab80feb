import { NotAllowed, Refusal } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { Status } from '../../domain/records/mission.ts'
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
import { asTheyAre, current, lookUp, put } from '../records.ts'
import { aboutWorkflow } from './engine.ts'
import { type Plan, planOf, stageId, stageIds } from './stages.ts'

export interface NewWorkflow {
  name: string
  project_id: string
  task: string
  stages: readonly StageInput[]
  tags: string[]
  /** A branch, tag or commit; null for the base branch as it is when a stage starts. */
  base_ref: string | null
}

/** Decides and writes everything at once. The daemon makes the missions. */
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

/** Refuses a workflow now for what one of its stages would be refused for later. */
export async function requireStages(fleet: Fleet, project: Project, stages: readonly Stage[]): Promise<void> {
  const missions = stages.map(({ name, agent, model, effort, tool_preset, approvals, max_turns, max_budget_usd }) => ({
    called: `Stage ${name}`,
    settings: { agent, model, effort, tool_preset, approvals, max_turns, max_budget_usd },
  }))
  await requireStartable(fleet, project, missions)
}

/** Nothing new starts, and the daemon stops what is at work. */
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

/** The statuses of a stage that is stopped when its workflow is cancelled. */
export const TO_STOP: readonly Status[] = ['queued', 'running', 'needs_input', 'waiting', 'landing', 'review']

/** A stage that cannot be stopped now, such as one that a person has taken over, does not keep the others running. */
export async function cancelStages(fleet: Fleet, id: string): Promise<void> {
  const stages = stageIds(await planOf(fleet, id))
  const refusals: Refusal[] = []
  for (const { value } of await asTheyAre(fleet, 'missions', { index: 'workflow', equals: [id] }, stages))
    await retryOnConflict(() => cancelStage(fleet, value.id)).catch(error => {
      if (!(error instanceof Refusal)) throw error
      refusals.push(error)
    })
  if (refusals[0]) throw refusals[0]
}

async function cancelStage(fleet: Fleet, id: string): Promise<void> {
  const { value: mission, version } = await current(fleet, 'missions', id)
  if (!TO_STOP.includes(mission.status) || mission.cancel_requested) return
  const step = life.requestCancel(mission, { actor: 'fleet', now: fleet.now() })
  await fleet.commit('commit.stage', { changes: [put('missions', step.mission, version)], events: step.events })
}

/** Does failed and stopped stages again. Finished ones stay as they are. */
export async function retryWorkflow(fleet: Fleet, ask: Ask, id: string): Promise<Stored<Workflow>> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'workflows', id)
    if (value.status !== 'failed' && value.status !== 'cancelled')
      throw new NotAllowed(`Workflow ${id} is ${value.status}, so there is nothing to retry.`)
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
      throw new NotAllowed(`A stage of workflow ${id} was deleted.`, { try: 'Run a new workflow.' })
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

/** The same workflow, with new missions for some of its stages. */
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

/** Changes one stage. It and everything that depends on it is done again; other finished stages stay. */
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
      throw new NotAllowed(`Workflow ${id} is running.`, {
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
