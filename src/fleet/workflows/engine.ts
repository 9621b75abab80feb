import { Refusal, StoreTrouble } from '../../domain/errors.ts'
import type { NewEvent } from '../../domain/records/event.ts'
import { Mission } from '../../domain/records/mission.ts'
import type { Report } from '../../domain/records/report.ts'
import { isScriptStage, type Stage, type Workflow } from '../../domain/records/workflow.ts'
import { isOver } from '../../domain/rules/delegation.ts'
import * as landings from '../../domain/rules/landing.ts'
import * as life from '../../domain/rules/life.ts'
import {
  counted,
  endOf,
  judgedBy,
  namedWinner,
  type StageFacts,
  stageStatus,
  type Verdict,
  verdictOn,
} from '../../domain/rules/workflow.ts'
import { MAX_REASON_CHARS } from '../../domain/text.ts'
import type { Change, Stored } from '../../store/index.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { readiness, reopenMission, retryMission } from '../missions/missions.ts'
import { all, current, newestReport, put } from '../records.ts'
import { sentence } from '../sentences.ts'
import { type Plan, planOf, stageId, stageIds, stageMission, toldTo } from './stages.ts'

/** A commit takes at most 90 changes and events together. */
const BATCH = 40

export const aboutWorkflow = (
  { id, project_id }: Pick<Workflow, 'id' | 'project_id'>,
  kind: NewEvent['kind'],
  by: life.By,
  data: object = {},
): NewEvent => ({ kind, time: by.now, actor: by.actor, project_id, data: { workflow: id, ...data } })

/**
 * Brings a workflow to where it should be, wherever it was left: makes its missions, notes ended stages, starts what
 * may start. Doing it again is free.
 */
export const takeUpWorkflow = (fleet: Fleet, id: string): Promise<void> => orFail(fleet, id, takeUp(fleet, id))

/** A workflow that cannot go on, such as one whose mission is gone, fails and says why. The others go on. */
async function orFail(fleet: Fleet, id: string, work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!(error instanceof Refusal) || error instanceof StoreTrouble) throw error
    const text = sentence(error).slice(0, MAX_REASON_CHARS)
    await retryOnConflict(async () => {
      const stored = await fleet.store.get('workflows', id)
      if (stored?.value.status === 'making' || stored?.value.status === 'running')
        await endWorkflow(fleet, stored, { status: 'failed', status_reason: { code: 'cannot_go_on', text } })
    })
  }
}

async function takeUp(fleet: Fleet, id: string): Promise<void> {
  const made = await planOf(fleet, id)
  await tryAgain(fleet, made)
  if (made.workflow.status === 'making') await makeMissions(fleet, made)
  const plan = await planOf(fleet, id)
  if (plan.workflow.status !== 'running') return
  for (const missionId of stageIds(plan)) await noteStage(fleet, missionId)
  for (const index of plan.stages.keys()) await considerStage(fleet, plan, index)
  await considerEnd(fleet, id)
}

/** A mission has moved. If it is a stage, the stages after it may start. */
export async function stageMoved(fleet: Fleet, missionId: string): Promise<void> {
  const at = (await fleet.store.get('missions', missionId))?.value.workflow
  if (at) await orFail(fleet, at.id, goOn(fleet, missionId))
}

async function goOn(fleet: Fleet, missionId: string): Promise<void> {
  const settled = await noteStage(fleet, missionId)
  if (!settled) return
  const plan = await planOf(fleet, settled.id)
  if (plan.workflow.status === 'running')
    for (const next of plan.after[settled.stage]!) await considerStage(fleet, plan, next)
  await considerEnd(fleet, settled.id)
}

/** Retries stages that failed or were stopped, and those that ended without their result, such as a named winner. */
async function tryAgain(fleet: Fleet, plan: Plan): Promise<void> {
  const ask = { operation: 'retry_workflow', actor: 'fleet' }
  for (const index of plan.workflow.again) {
    const { id, status, workflow } = await stageMission({ fleet, plan }, index)
    if (status === 'done' && workflow?.settled === 'failed') await reopenMission(fleet, ask, id)
    if (status === 'failed' || status === 'cancelled') await retryMission(fleet, ask, id)
  }
}

/**
 * Makes the missions as drafts in batches, and starts them by one commit. A crash in between leaves nothing half
 * started.
 */
async function makeMissions(fleet: Fleet, { workflow, stages }: Plan): Promise<void> {
  const by = { actor: 'fleet', now: fleet.now() }
  for (let from = 0; from < stages.length; from += BATCH)
    await retryOnConflict(async () => {
      const changes: Change[] = []
      const events: NewEvent[] = []
      for (const [offset, stage] of stages.slice(from, from + BATCH).entries()) {
        const mission = await draftOf(fleet, { workflow, stages }, from + offset, stage, by)
        if (await fleet.store.get('missions', mission.id)) continue
        changes.push(put('missions', mission, 'absent'))
        const data = { title: mission.title, workflow: workflow.id, was: null, status: 'draft' }
        events.push(life.about(mission, 'mission_created', by, { data }))
      }
      if (changes.length) await fleet.commit('commit.workflow-made', { changes, events })
    })
  await retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'workflows', workflow.id)
    if (value.status !== 'making') return
    await fleet.commit('commit.workflow-made', {
      changes: [put('workflows', { ...value, status: 'running', again: [], updated_at: by.now }, version)],
      events: [aboutWorkflow(value, 'workflow_started', by)],
    })
  })
}

async function draftOf(
  fleet: Fleet,
  { workflow, stages }: Pick<Plan, 'workflow' | 'stages'>,
  index: number,
  stage: Stage,
  by: life.By,
): Promise<Mission> {
  const startFrom = { new: 'clean', inherit: 'base', share: 'share' } as const
  return Mission.parse({
    id: stageId(workflow.id, index, stage),
    project_id: workflow.project_id,
    title: `${workflow.name}: ${stage.name}`.slice(0, 300),
    prompt: await fleet.blobs.keep(stage.prompt),
    acceptance_criteria: stage.acceptance_criteria,
    mission_type: stage.type,
    agent: stage.agent,
    script: isScriptStage(stage),
    model: stage.model,
    effort: stage.effort,
    tool_preset: stage.tool_preset,
    approvals: stage.approvals,
    max_turns: stage.max_turns,
    max_budget_usd: stage.max_budget_usd,
    timeout_seconds: stage.timeout_seconds,
    max_retries: stage.retries,
    tags: workflow.tags,
    depends_on: stage.depends_on.map(each => stageId(workflow.id, each, stages[each]!)),
    start_from: startFrom[stage.worktree],
    subdirectory: stage.subdirectory,
    base_ref: stage.worktree === 'new' ? workflow.base_ref : null,
    landing: stage.lands === true ? null : stage.lands === 'review' ? 'review' : 'never',
    check_kept: stage.checked,
    workflow: { id: workflow.id, stage: index, settled: null },
    status: 'draft',
    created_at: by.now,
    updated_at: by.now,
  })
}

/** Notes once that a stage is over, or that a person sent it back to work. */
async function noteStage(fleet: Fleet, missionId: string): Promise<{ id: string; stage: number } | undefined> {
  return retryOnConflict(async () => {
    const stored = await fleet.store.get('missions', missionId)
    const at = stored?.value.workflow
    if (!stored || !at) return undefined
    const mission = stored.value
    const over = isOver(mission)
    if (over === (at.settled !== null) || (mission.status === 'draft' && !at.settled)) return undefined
    const plan = await planOf(fleet, at.id)
    if (stageId(at.id, at.stage, plan.stages[at.stage]!) !== mission.id) return undefined
    await (over ? settle(fleet, plan, stored) : reopened(fleet, plan, stored))
    return { id: at.id, stage: at.stage }
  })
}

async function settle(fleet: Fleet, plan: Plan, stored: Stored<Mission>): Promise<void> {
  const mission = stored.value
  const { value: workflow, version } = await current(fleet, 'workflows', plan.workflow.id)
  const by = { actor: 'fleet', now: fleet.now() }
  const stage = plan.stages[mission.workflow!.stage]!
  const report = await newestReport(fleet, mission.id)
  const chosen = mission.status === 'done' ? await winner(fleet, plan, stage, report) : undefined
  const wasAnswered = stage.asks && (await answeredIn(fleet, mission))
  const settled = stageStatus(mission, report, { ...stage, hasWinner: chosen !== undefined, wasAnswered })
  const landing = chosen && chosen.value.result === 'kept' ? landings.requestLanding(chosen.value, by) : undefined
  const next = { ...counted.ended(workflow, stage, settled, landing !== undefined), updated_at: by.now }
  const changes: Change[] = [
    put('missions', { ...mission, workflow: { ...mission.workflow!, settled } }, stored.version),
    put('workflows', next, version),
  ]
  if (landing)
    changes.push(
      put(
        'missions',
        { ...landing.mission, workflow: { ...landing.mission.workflow!, settled: null } },
        chosen!.version,
      ),
    )
  await fleet.commit('commit.stage', { changes, events: landing?.events })
}

/** Whether a person answered a question of this mission. */
async function answeredIn(fleet: Fleet, { id }: Mission): Promise<boolean> {
  for await (const { value } of all(fleet, 'questions', 'mission', [id]))
    if (value.kind === 'question' && value.status === 'answered') return true
  return false
}

async function reopened(fleet: Fleet, plan: Plan, { value: mission, version: read }: Stored<Mission>): Promise<void> {
  const { value: workflow, version } = await current(fleet, 'workflows', plan.workflow.id)
  const by = { actor: 'fleet', now: fleet.now() }
  const next = { ...counted.reopened(workflow, plan.stages[mission.workflow!.stage]!), updated_at: by.now }
  await fleet.commit('commit.stage', {
    changes: [
      put('missions', { ...mission, workflow: { ...mission.workflow!, settled: null } }, read),
      put('workflows', next, version),
    ],
  })
}

/** The mission that a stage chose, if the stage ended well. */
async function winner(
  fleet: Fleet,
  plan: Plan,
  stage: Stage,
  report: Report | undefined,
): Promise<Stored<Mission> | undefined> {
  const choice = namedWinner(plan.stages, stage, report?.summary ?? '')
  if (choice === undefined) return undefined
  const stored = await current(fleet, 'missions', stageId(plan.workflow.id, choice, plan.stages[choice]!))
  return stored.value.status === 'done' ? stored : undefined
}

/** Starts a stage, or skips it, when everything it waits for is over. */
async function considerStage(fleet: Fleet, plan: Plan, index: number): Promise<void> {
  await retryOnConflict(async () => {
    const { workflow, stages } = plan
    const stored = await current(fleet, 'missions', stageId(workflow.id, index, stages[index]!))
    if (stored.value.status !== 'draft' || stored.value.workflow?.settled) return
    const verdict = await judged(fleet, plan, index)
    if (verdict === 'wait') return
    const { value, version } = await current(fleet, 'workflows', workflow.id)
    if (value.status !== 'running') return
    const by = { actor: 'fleet', now: fleet.now() }
    if (verdict === 'skip') {
      const step = life.cancelled(stored.value, by)
      const why = { code: 'skipped', text: 'Its condition was not met, so it was skipped.' }
      const skipped = {
        ...step.mission,
        status_reason: why,
        workflow: { ...stored.value.workflow!, settled: 'skipped' as const },
      }
      await fleet.commit('commit.stage', {
        changes: [
          put('missions', skipped, stored.version),
          put('workflows', { ...counted.skipped(value), updated_at: by.now }, version),
        ],
        events: step.events,
      })
      return
    }
    const told = await toldTo(fleet, plan, index)
    // A stage that failed or was skipped is no reason to wait. One that was done again has another mission.
    const done = await Promise.all(
      stages[index]!.depends_on.map(async each => {
        const { id, status } = await stageMission({ fleet, plan }, each)
        return status === 'done' ? [id] : []
      }),
    )
    const draft = { ...stored.value, ...told, depends_on: done.flat() }
    const { ready, checks } = await readiness(fleet, draft)
    const step = life.dispatch(draft, ready, null, by, 'auto_dispatched')
    await fleet.commit('commit.stage', {
      changes: [
        put('missions', step.mission, stored.version),
        put('workflows', { ...counted.begun(value), updated_at: by.now }, version),
      ],
      checks,
      events: step.events,
    })
  })
  // A skipped stage is over, so the stages after it may start.
  const now = await stageMission({ fleet, plan }, index)
  if (now.workflow?.settled === 'skipped') for (const next of plan.after[index]!) await considerStage(fleet, plan, next)
}

async function judged(fleet: Fleet, plan: Plan, index: number): Promise<Verdict> {
  const facts = new Map<number, StageFacts>()
  for (const each of judgedBy(plan.stages, index)) {
    const mission = await stageMission({ fleet, plan }, each)
    // Only the stage that the condition names is read for its text. Of the others only the result counts.
    const report = plan.stages[index]!.when?.stage === each ? await newestReport(fleet, mission.id) : undefined
    facts.set(each, { settled: mission.workflow?.settled ?? null, says: report?.summary ?? '' })
  }
  return verdictOn(plan.stages, index, each => facts.get(each)!)
}

/** Ends a workflow in which nothing works and nothing more can start. */
async function considerEnd(fleet: Fleet, id: string): Promise<void> {
  await retryOnConflict(async () => {
    const stored = await current(fleet, 'workflows', id)
    const end = endOf(stored.value)
    if (end) await endWorkflow(fleet, stored, end)
  })
}

async function endWorkflow(
  fleet: Fleet,
  { value, version }: Stored<Workflow>,
  { status, status_reason }: Pick<Workflow, 'status' | 'status_reason'>,
): Promise<void> {
  const by = { actor: 'fleet', now: fleet.now() }
  const ended: Workflow = { ...value, status, status_reason, ended_at: by.now, updated_at: by.now }
  await fleet.commit('commit.workflow-ended', {
    changes: [put('workflows', ended, version)],
    events: [aboutWorkflow(value, 'workflow_ended', by, { outcome: status })],
  })
}
