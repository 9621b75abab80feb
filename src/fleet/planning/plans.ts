import type { Agent } from '../../agents/index.ts'
import { InvalidInput, NotAllowed, Refusal, WrongState } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { NewEvent } from '../../domain/records/event.ts'
import { budgetLeft } from '../../domain/records/loop.ts'
import { Mission, MissionSettings } from '../../domain/records/mission.ts'
import { type Objection, Plan, type PlannedMission, problemWithMissions } from '../../domain/records/plan.ts'
import type { Project } from '../../domain/records/project.ts'
import { isOver } from '../../domain/rules/delegation.ts'
import { forProject } from '../../domain/rules/effective.ts'
import * as life from '../../domain/rules/life.ts'
import { type Planning, planningPrompt } from '../../domain/rules/plan-prompt.ts'
import { clipped, MAX_REASON_CHARS } from '../../domain/text.ts'
import type { Change, Stored } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import { defaultsOf } from '../dispatch/capacity.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { isScript, requireCodingAgent, runsScripts } from '../missions/agents.ts'
import { requireStored } from '../missions/images.ts'
import { requireHeld, requireInstalled, requireStartable } from '../missions/requirements.ts'
import { current, derivedId, put } from '../records.ts'
import { sandboxFor } from '../sessions/sandbox.ts'

export interface PlanWish {
  goal: string
  agent?: string | null
  model?: string | null
  max_budget_usd?: number | null
  auto_approve?: boolean
  /** Whether its missions may be scripts. */
  scripts?: boolean
  /** What the planner is shown with the goal. */
  images?: readonly string[]
}

/** Asks an agent for a plan. The agent works on it as an ordinary mission that may read and change nothing. */
export async function requestPlan(fleet: Fleet, ask: Ask, projectId: string, wish: PlanWish): Promise<Stored<Plan>> {
  const { value: project } = await current(fleet, 'projects', projectId)
  const request = await planRequest(fleet, project, { ...wish, id: newId(), loop: null })
  const id = await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'projects', projectId)
    if (value.deleting) throw new NotAllowed(`Project ${value.name} is being deleted.`)
    const { plan, changes, events } = request(by(fleet, ask))
    return { subject: plan.id, changes, checks: [{ collection: 'projects', id: value.id, expects: version }], events }
  })
  return current(fleet, 'plans', id)
}

interface Request {
  plan: Plan
  changes: Change[]
  events: NewEvent[]
}

/** Prepares what is written when a plan is requested. Everything slow is done before the commit. */
export async function planRequest(
  fleet: Fleet,
  project: Project,
  wish: PlanWish & { id: string; loop: (NonNullable<Planning['loop']> & { id: string }) | null },
): Promise<(when: life.By) => Request> {
  const agent = wish.agent ?? (await requireCodingAgent(fleet, project))
  await requirePlanner(fleet, agent)
  await requireStored(fleet, wish.images ?? [])
  requireHeld(fleet, plannerSettings(agent, wish), project)
  const agents = await installedAgents(fleet, wish.scripts ?? false)
  const [goal, prompt] = await Promise.all([
    fleet.blobs.keep(wish.goal),
    fleet.blobs.keep(planningPrompt({ goal: wish.goal, agents, loop: wish.loop })),
  ])
  return when => {
    const draft = Mission.parse({
      ...plannerSettings(agent, wish),
      title: clipped(`Plan: ${wish.goal.trim().split('\n')[0]}`, 120),
      id: derivedId('planning', wish.id),
      project_id: project.id,
      prompt,
      planning: wish.id,
      status: 'draft',
      created_at: when.now,
      updated_at: when.now,
    })
    const plan = Plan.parse({
      id: wish.id,
      project_id: project.id,
      mission_id: draft.id,
      loop_id: wish.loop?.id ?? null,
      goal,
      status: 'planning',
      auto_approve: wish.auto_approve ?? false,
      scripts: wish.scripts ?? false,
      created_at: when.now,
      updated_at: when.now,
    })
    const { mission, events } = life.dispatch(draft, true, null, when, 'auto_dispatched')
    return {
      plan,
      changes: [put('plans', plan, 'absent'), put('missions', mission, 'absent')],
      events: [
        life.about(draft, 'mission_created', when, { data: { title: draft.title, was: null, status: 'draft' } }),
        ...events,
        eventOf(plan, 'plan_requested', when),
      ],
    }
  }
}

/** The limits of a planner, whichever agent it is. */
export const plannerSettings = (
  agent: string,
  { model, max_budget_usd, images = [] }: Omit<PlanWish, 'goal'>,
): MissionSettings =>
  MissionSettings.parse({
    title: 'Plan',
    mission_type: 'plan',
    agent,
    model: model ?? null,
    max_budget_usd: max_budget_usd ?? null,
    images,
    tool_preset: 'explore',
    approvals: 'deny',
    landing: 'never',
    max_retries: 0,
  })

/** A planner must understand prose, and must be able to hold itself to reading. */
export async function requirePlanner(fleet: Fleet, name: string): Promise<void> {
  const agent = fleet.agents.named(name)
  const canBeHeld = ({ can }: Agent) => can.presets.includes('explore') || can.sandboxed.includes('explore')
  const others = fleet.agents.all.filter(each => !each.can.scripts && canBeHeld(each)).map(each => each.name)
  const hint = { try: `Choose another agent with --agent: ${others.join(', ')}.` }
  if (agent.can.scripts)
    throw new NotAllowed(`${agent.title === 'Shell script' ? 'A shell script' : agent.title} cannot plan.`, hint)
  if (!canBeHeld(agent))
    throw new NotAllowed(`${agent.title} cannot be kept from changing things while it plans.`, hint)
  await sandboxFor(fleet, agent, 'explore')
  if (!agent.plugin) await requireInstalled(fleet, agent)
}

async function installedAgents(fleet: Fleet, scripts: boolean): Promise<string[]> {
  const offered = fleet.agents.all.filter(({ can }) => scripts || !can.scripts)
  const found = await Promise.all(
    offered.map(async agent => ((await agent.detect(fleet.environment)).installed ? [agent.name] : [])),
  )
  return found.flat()
}

export const eventOf = (plan: Plan, kind: NewEvent['kind'], when: life.By, cause?: string): NewEvent =>
  life.about({ id: plan.mission_id, project_id: plan.project_id }, kind, when, { cause, data: { plan: plan.id } })

export const plannedIn = async (fleet: Fleet, { missions }: Pick<Plan, 'missions'>): Promise<PlannedMission[]> =>
  missions ? (JSON.parse(await fleet.blobs.read(missions)) as PlannedMission[]) : []

/** A planner writes the prompts of agents. Its text runs as a script only where a person allowed that. */
export const objectionTo =
  (fleet: Fleet, scripts: boolean): Objection =>
  name => {
    const agent = fleet.agents.all.find(each => each.name === name)
    if (!agent) return 'which does not exist'
    return agent.can.scripts && !scripts ? 'which runs text as a script, and this plan may not contain scripts' : null
  }

function requireProposed(plan: Plan): void {
  if (plan.status !== 'proposed')
    throw new WrongState('Plan', plan.id, plan.status, ['proposed'], { try: `fleet plan show ${plan.id}` })
}

/** Replaces the proposed missions by others. */
export async function editPlan(
  fleet: Fleet,
  ask: Ask,
  id: string,
  missions: PlannedMission[],
  summary?: string,
): Promise<Stored<Plan>> {
  // The author of an edit names the agents of its missions, so they may name one that runs scripts.
  const scripts = missions.some(({ agent }) => isScript(fleet, ask, agent))
  const problem = missions.length ? problemWithMissions(missions, objectionTo(fleet, true)) : 'It names no missions.'
  if (problem) throw new InvalidInput('missions', problem)
  const stored = await fleet.blobs.keep(JSON.stringify(missions))
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'plans', id)
    requireProposed(value)
    const when = by(fleet, ask)
    const plan: Plan = { ...value, scripts, missions: stored, summary: summary ?? value.summary, updated_at: when.now }
    return { subject: id, changes: [put('plans', plan, version)], events: [eventOf(plan, 'plan_edited', when)] }
  })
  return current(fleet, 'plans', id)
}

/** The id that a planned mission will have, the same however often it is approved. */
export const missionIdOf = (planId: string, key: string): string => derivedId('planned', planId, key)

/** Makes missions of a plan and queues them in one commit, so that all are there or none is. */
export async function approvePlan(fleet: Fleet, ask: Ask, id: string): Promise<Stored<Plan>> {
  await oncePerKey(fleet, ask, async () => {
    const { value: plan, version } = await current(fleet, 'plans', id)
    if (plan.status === 'approved') return { subject: id, changes: [] }
    requireProposed(plan)
    const project = await current(fleet, 'projects', plan.project_id)
    if (project.value.deleting) throw new NotAllowed(`Project ${project.value.name} is being deleted.`)
    const planned = await plannedIn(fleet, plan)
    // An agent that was declared when the plan was made may be gone.
    const problem = problemWithMissions(planned, objectionTo(fleet, plan.scripts))
    if (problem) throw new NotAllowed(problem, { try: `fleet plan edit ${id} …` })
    const budget = plan.loop_id ? await budgetIn(fleet, plan.loop_id, project.value) : null
    const when = by(fleet, ask)
    const otherwise = await agentOfUnnamed(fleet, plan, project.value)
    await requireStartable(
      fleet,
      project.value,
      planned.map(({ key, agent, model, mission_type }) => ({
        called: key,
        settings: { agent: agent ?? otherwise, model, mission_type, max_budget_usd: budget },
      })),
    )
    const missions = await Promise.all(
      planned.map(async each =>
        missionOf(
          plan,
          { ...each, agent: each.agent ?? otherwise },
          {
            prompt: await fleet.blobs.keep(each.prompt),
            script: runsScripts(fleet, each.agent),
            max_budget_usd: budget,
            when,
          },
        ),
      ),
    )
    const next: Plan = { ...plan, status: 'approved', updated_at: when.now }
    const after = ({ id }: Mission): string[] =>
      missions.flatMap(({ mission }) => (mission.depends_on.includes(id) ? [mission.id] : []))
    return {
      subject: id,
      changes: [
        ...missions.map(({ mission }) => put('missions', { ...mission, dependents: after(mission) }, 'absent')),
        put('plans', next, version),
      ],
      checks: [{ collection: 'projects', id: project.value.id, expects: project.version }],
      events: [...missions.map(({ event }) => event), eventOf(next, 'plan_approved', when)],
    }
  })
  return current(fleet, 'plans', id)
}

/** The agent for missions that name none: the project's, or the planner where the project has none. */
async function agentOfUnnamed(fleet: Fleet, plan: Plan, project: Project): Promise<string | null> {
  const { agent } = forProject(project, defaultsOf(fleet))
  if (agent !== null && !runsScripts(fleet, agent)) return null
  return (await current(fleet, 'missions', plan.mission_id)).value.agent
}

/** What one mission of a loop may cost: no more than the loop has left and the project allows. */
async function budgetIn(fleet: Fleet, loopId: string, project: Project): Promise<number | null> {
  const loop = (await fleet.store.get('loops', loopId))?.value
  return loop ? lesser(project.max_budget_usd, budgetLeft(loop)) : null
}

export function lesser(one: number | null, other: number | null): number | null {
  const known = [one, other].filter(each => each !== null)
  return known.length ? Math.min(...known) : null
}

/** One event says both that it was made and that it is queued. Two for each would not fit into the commit. */
function missionOf(
  plan: Plan,
  { key, depends_on, prompt: _, estimate_minutes: __, estimate_usd: ___, ...settings }: PlannedMission,
  { prompt, script, max_budget_usd, when }: Pick<Mission, 'prompt' | 'script' | 'max_budget_usd'> & { when: life.By },
): { mission: Mission; event: NewEvent } {
  const draft = Mission.parse({
    ...MissionSettings.parse({ ...settings, max_budget_usd }),
    depends_on: depends_on.map(each => missionIdOf(plan.id, each)),
    id: missionIdOf(plan.id, key),
    project_id: plan.project_id,
    plan_id: plan.id,
    prompt,
    script,
    status: 'draft',
    created_at: when.now,
    updated_at: when.now,
  })
  const { mission } = life.dispatch(draft, depends_on.length === 0, null, when, 'auto_dispatched')
  const data = { title: mission.title, plan: plan.id, was: null, status: mission.status }
  return { mission, event: life.about(mission, 'mission_created', when, { data }) }
}

/** Rejects a plan that is proposed or still being made. */
export async function rejectPlan(fleet: Fleet, ask: Ask, id: string, reason: string): Promise<Stored<Plan>> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'plans', id)
    if (value.status === 'rejected') return { subject: id, changes: [] }
    if (value.status !== 'planning') requireProposed(value)
    const when = by(fleet, ask)
    const plan: Plan = { ...value, status: 'rejected', reason: reason || null, updated_at: when.now }
    const planner = await fleet.store.get('missions', value.mission_id)
    const isAtWork = planner && !isOver(planner.value)
    const cancel = isAtWork && !planner.value.cancel_requested ? life.requestCancel(planner.value, when) : null
    return {
      subject: id,
      changes: [put('plans', plan, version), ...(cancel ? [put('missions', cancel.mission, planner!.version)] : [])],
      events: [...(cancel?.events ?? []), eventOf(plan, 'plan_rejected', when, reason || undefined)],
    }
  })
  return current(fleet, 'plans', id)
}

/** Fails a plan whose planner failed, was cancelled or is gone. Only the daemon calls it. */
export async function settlePlan(fleet: Fleet, id: string): Promise<void> {
  await retryOnConflict(async () => {
    const plan = await fleet.store.get('plans', id)
    if (plan?.value.status !== 'planning') return
    const planner = (await fleet.store.get('missions', plan.value.mission_id))?.value
    if (planner && !isOver(planner)) return
    const reason = planner
      ? (planner.status_reason?.text ?? `Its mission is ${planner.status}.`)
      : 'Its mission was deleted.'
    const when = { actor: 'fleet', now: fleet.now() }
    const next: Plan = {
      ...plan.value,
      status: 'failed',
      reason: clipped(reason, MAX_REASON_CHARS),
      updated_at: when.now,
    }
    await fleet.commit('commit.plan-failed', {
      changes: [put('plans', next, plan.version)],
      events: [eventOf(next, 'plan_failed', when, reason)],
    })
  })
}

/** What the daemon does about a plan by itself, on an event or after a start. */
export async function heedPlan(fleet: Fleet, id: string): Promise<void> {
  await settlePlan(fleet, id)
  const plan = (await fleet.store.get('plans', id))?.value
  if (plan?.status !== 'proposed' || !plan.auto_approve) return
  // Something happened in the shared repository while the plan was made, so a person should look first.
  if ((await fleet.store.get('missions', plan.mission_id))?.value.status === 'review') return
  await approvePlan(fleet, { operation: 'approve_plan', actor: 'fleet' }, id).catch(error => {
    // It stays proposed. A person who approves it gets the same refusal.
    if (!(error instanceof Refusal)) throw error
  })
}
