import { InvalidInput, NotAllowed } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { Mission, type MissionSettings, type Status } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import * as landings from '../../domain/rules/landing.ts'
import * as life from '../../domain/rules/life.ts'
import { isReady } from '../../domain/rules/waiting.ts'
import { commitNamed } from '../../git/index.ts'
import type { Batch, Change, Check, Stored } from '../../store/index.ts'
import { type Ask, by, changeMission, oncePerKey } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { requireShown } from '../landing/candidates.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { requireProposable } from '../pull-requests/open-pull-request.ts'
import { all, current, dependenciesOf, fleetState, lookUp, put } from '../records.ts'
import { discarded, forgetMission, leftBehind, stillHolds } from '../worktrees/retiring.ts'
import { isScript, isScriptAfter, requireCodingAgent } from './agents.ts'
import { requireHeld } from './requirements.ts'

export type MissionFields = MissionSettings & { detailed_prompt: string }

export async function createMission(
  fleet: Fleet,
  ask: Ask,
  projectRef: string,
  fields: MissionFields,
  autoDispatch: boolean,
  saved: Partial<Pick<Mission, 'script' | 'variables'>> = {},
): Promise<Stored<Mission>> {
  const { value: project } = await lookUp(fleet, 'projects', projectRef)
  const script = saved.script ?? isScript(fleet, ask, fields.agent)
  const prompt = await fleet.blobs.keep(fields.detailed_prompt)
  const settings = await checkedSettings(fleet, fields, project)
  const agent = settings.agent ?? (await requireCodingAgent(fleet, project))
  requireHeld(fleet, { ...settings, agent }, project)
  const made = { ...settings, variables: saved.variables ?? null, script, id: newId(), prompt }
  const id = await oncePerKey(fleet, ask, () => newMission(fleet, project.id, made, autoDispatch, by(fleet, ask)))
  return current(fleet, 'missions', id)
}

/** What is written when a mission is made. */
export async function newMission(
  fleet: Fleet,
  projectId: string,
  fields: MissionSettings & Pick<Mission, 'id' | 'prompt'> & Partial<Mission>,
  autoDispatch: boolean,
  when: life.By,
): Promise<Batch & { subject: string }> {
  const { value: project, version } = await current(fleet, 'projects', projectId)
  if (project.deleting) throw new NotAllowed(`Project ${project.name} is being deleted.`)
  const draft = Mission.parse({
    ...fields,
    project_id: project.id,
    status: 'draft',
    created_at: when.now,
    updated_at: when.now,
  })
  const created = life.about(draft, 'mission_created', when, {
    data: { title: draft.title, was: null, status: 'draft' },
  })
  const { ready, checks } = await readiness(fleet, draft)
  const next = autoDispatch
    ? life.dispatch(draft, ready, null, when, 'auto_dispatched')
    : { mission: draft, events: [] }
  return {
    subject: draft.id,
    changes: [put('missions', next.mission, 'absent')],
    checks: [{ collection: 'projects', id: project.id, expects: version }, ...checks],
    events: [created, ...next.events],
  }
}

/** While work is under way only what does not change the work itself may be edited. */
const EDITABLE: Status[] = ['draft', 'queued', 'needs_input', 'waiting', 'review', 'failed', 'cancelled']
const ALWAYS_EDITABLE = new Set(['title', 'tags', 'priority'])
/** What says which agent works, and what it is held to. */
const HELD = new Set<string>([
  ...['agent', 'model', 'engine', 'effort', 'tool_preset', 'allowed_tools', 'approvals'],
  ...['max_turns', 'max_budget_usd'],
])

export async function updateMission(
  fleet: Fleet,
  ask: Ask,
  id: string,
  fields: Partial<MissionFields>,
): Promise<Stored<Mission>> {
  const { detailed_prompt, ...rest } = fields
  const prompt = detailed_prompt === undefined ? undefined : await fleet.blobs.keep(detailed_prompt)
  const project = await projectOf(fleet, id)
  const settings = await checkedSettings(fleet, rest, project)
  if (settings.agent === null) await requireCodingAgent(fleet, project)
  return changeMission(fleet, id, ask, async (mission, when) => {
    const script = isScriptAfter(fleet, ask, mission, { agent: settings.agent, text: prompt !== undefined })
    if (Object.keys(fields).some(field => !ALWAYS_EDITABLE.has(field))) life.requireStatus(mission, EDITABLE)
    const edited = { ...mission, ...settings, ...(prompt && { prompt }), script }
    if (Object.keys(settings).some(field => HELD.has(field))) requireHeld(fleet, edited, project)
    const { ready, checks } = await readiness(fleet, edited)
    const change = mission.status === 'queued' ? { ...edited, ready } : edited
    const guard = settings.depends_on || settings.parent_mission_id ? await againstCycles(fleet, edited) : []
    return {
      ...life.step(mission, change, when, 'mission_updated', { data: { fields: Object.keys(fields) } }),
      changes: guard,
      checks,
    }
  })
}

type Override = Partial<
  Pick<
    MissionSettings,
    | 'agent'
    | 'model'
    | 'engine'
    | 'max_turns'
    | 'max_budget_usd'
    | 'timeout_seconds'
    | 'context_limit_percent'
    | 'allowed_tools'
    | 'tool_preset'
    | 'landing'
    | 'context_mode'
  >
>

/** What a person may say when an agent is sent. */
export interface Wish {
  /** Settings that the mission keeps from then on. */
  override?: Override
  /** For the next session only. */
  message?: string
}

const asked =
  (decide: typeof life.dispatch | typeof life.retry) =>
  async (fleet: Fleet, ask: Ask, id: string, wish: Wish = {}): Promise<Stored<Mission>> => {
    const project = await projectOf(fleet, id)
    const settings = await checkedSettings(fleet, wish.override ?? {}, project)
    const instructions = wish.message ? await fleet.blobs.keep(wish.message) : null
    return changeMission(fleet, id, ask, async (mission, when) => {
      const script = isScriptAfter(fleet, ask, mission, { agent: settings.agent, text: false })
      requireHeld(fleet, { ...mission, ...settings }, project)
      const { ready, checks } = await readiness(fleet, mission)
      return { ...decide({ ...mission, ...settings, script }, ready, instructions, when), checks }
    })
  }

const queueDraft = asked(life.dispatch)
export const retryMission = asked(life.retry)
export const resumeMission = asked(life.resume)
export const reopenMission = asked(life.reopen)

/** Asking for what is already queued changes nothing and is no mistake: a hundred requests make one session. */
export async function dispatchMission(fleet: Fleet, ask: Ask, id: string, wish: Wish = {}): Promise<Stored<Mission>> {
  const plain = !wish.message && Object.keys(wish.override ?? {}).length === 0
  const found = await current(fleet, 'missions', id)
  if (plain && found.value.status === 'queued') return found
  return queueDraft(fleet, ask, id, wish)
}

export const cancelMission = (fleet: Fleet, ask: Ask, id: string, reason?: string): Promise<Stored<Mission>> =>
  changeMission(fleet, id, ask, (mission, when) => life.cancel(mission, when, reason))

/** `expected`: the candidate that whoever asks was shown. */
export const landMission = (
  fleet: Fleet,
  ask: Ask,
  id: string,
  { force = false, expected }: { force?: boolean; expected?: string },
): Promise<Stored<Mission>> =>
  changeMission(fleet, id, ask, async (mission, when) =>
    landings.land(await requireShown(fleet, mission, expected), when, force),
  )

export const rejectMission = (fleet: Fleet, ask: Ask, id: string, reason?: string): Promise<Stored<Mission>> =>
  changeMission(fleet, id, ask, (mission, when) => life.reject(mission, reason, when))

export const reconsiderMission = (fleet: Fleet, ask: Ask, id: string): Promise<Stored<Mission>> =>
  changeMission(fleet, id, ask, (mission, when) => life.reconsider(mission, when))

export const undoMission = (fleet: Fleet, ask: Ask, id: string): Promise<Stored<Mission>> =>
  changeMission(fleet, id, ask, (mission, when) => landings.undo(mission, when))

const DELETABLE: Status[] = ['draft', 'needs_input', 'review', 'done', 'failed', 'cancelled']

export async function deleteMission(fleet: Fleet, ask: Ask, id: string, discard: boolean): Promise<void> {
  await oncePerKey(fleet, ask, async () => {
    const { value: mission, version } = await current(fleet, 'missions', id)
    life.requireStatus(mission, DELETABLE, `fleet mission cancel ${id}`)
    if (mission.undo) throw new NotAllowed(`Mission ${id} is being undone.`, { try: `fleet mission show ${id}` })
    life.requireFree(mission)
    const left = await leftBehind(fleet, id)
    if (left.length && !discard) throw stillHolds(left, `fleet mission delete ${id} --discard`)
    const dependents = (await fleet.store.find('missions', { index: 'dependency', equals: [id], limit: 20 })).items.map(
      d => d.value.id,
    )
    if (dependents.length) {
      throw new NotAllowed(`Mission ${id} is depended on by ${dependents.join(', ')}.`, {
        try: `fleet mission delete ${dependents[0]}`,
        facts: { dependents },
      })
    }
    const checks = await requireNoStage(fleet, mission)
    const changes = [put('missions', { ...mission, deleting: true }, version), ...discarded(left)]
    return { subject: id, changes, checks }
  })
  await forgetMission(fleet, id, by(fleet, ask))
}

/** A workflow at work counts on the missions of its stages. */
async function requireNoStage(fleet: Fleet, { id, workflow: at }: Mission): Promise<Check[]> {
  const workflow = at && (await fleet.store.get('workflows', at.id))
  if (!workflow) return []
  if (workflow.value.status === 'making' || workflow.value.status === 'running')
    throw new NotAllowed(`Mission ${id} is a stage of workflow ${at.id}, which is at work.`, {
      try: `fleet workflow cancel ${at.id}`,
    })
  return [{ collection: 'workflows', id: at.id, expects: workflow.version }]
}

/** Unknown agents and dependencies are refused when written, not when a session starts. */
export async function checkedSettings<T extends Partial<MissionSettings>>(
  fleet: Fleet,
  settings: T,
  project: Project,
): Promise<T> {
  if (settings.agent) fleet.agents.named(settings.agent)
  if (settings.subdirectory !== undefined) requireInside(settings.subdirectory)
  if (settings.landing === 'pull-request') await requireProposable(fleet, project)
  const parent = settings.parent_mission_id && (await lookUp(fleet, 'missions', settings.parent_mission_id)).value.id
  const depends_on = settings.depends_on && [
    ...new Set(
      await Promise.all(settings.depends_on.map(async ref => (await lookUp(fleet, 'missions', ref)).value.id)),
    ),
  ]
  const base_ref = settings.base_ref && (await startCommit(project, settings.base_ref))
  return {
    ...settings,
    ...(parent && { parent_mission_id: parent }),
    ...(depends_on && { depends_on }),
    ...(base_ref && { base_ref }),
  }
}

export const projectOf = async (fleet: Fleet, missionId: string): Promise<Project> =>
  (await current(fleet, 'projects', (await current(fleet, 'missions', missionId)).value.project_id)).value

/** Held fast when it is written: a branch that moves on before the mission starts changes nothing. */
export async function startCommit(project: Project, ref: string): Promise<string> {
  if (project.worktree === 'none') throw new InvalidInput('base_ref', `${project.path} is no repository`)
  const commit = await commitNamed(await repositoryOf(project), ref)
  if (commit) return commit
  throw new InvalidInput('base_ref', `there is no branch, tag or commit ${JSON.stringify(ref)} in ${project.path}`)
}

function requireInside(subdirectory: string): void {
  if (subdirectory.startsWith('/') || subdirectory.split('/').includes('..')) {
    throw new InvalidInput('subdirectory', 'must be a path inside the repository, such as packages/web')
  }
}

/**
 * Whether a mission could start as far as others are concerned, and the versions that answer rests on:
 * a dependency that finishes meanwhile makes the commit fail, so its end is never missed.
 */
export async function readiness(fleet: Fleet, mission: Mission): Promise<{ ready: boolean; checks: Check[] }> {
  const dependencies = await dependenciesOf(fleet, mission)
  const checks = dependencies.map(d => ({ collection: 'missions' as const, id: d.value.id, expects: d.version }))
  return {
    ready: isReady(
      mission,
      dependencies.map(d => d.value),
    ),
    checks,
  }
}

/** How missions hang together; none of these ways may lead back to where it began. */
const WAYS: Record<'depends_on' | 'parent_mission_id', (mission: Mission) => readonly string[]> = {
  depends_on: mission => mission.depends_on,
  parent_mission_id: mission => (mission.parent_mission_id ? [mission.parent_mission_id] : []),
}

/** Follows where an edited mission leads; the count it bumps makes two edits at once see each other. */
async function againstCycles(fleet: Fleet, mission: Mission): Promise<Change[]> {
  const { value, expects } = await fleetState(fleet)
  for (const [field, leadsTo] of Object.entries(WAYS)) {
    const seen = new Set<string>()
    const follow = async (from: Mission, path: string[]): Promise<void> => {
      for (const id of leadsTo(from)) {
        if (id === mission.id) throw new InvalidInput(field, `would make a circle: ${[...path, id].join(' → ')}`)
        if (seen.has(id)) continue
        seen.add(id)
        const next = await fleet.store.get('missions', id)
        if (next) await follow(next.value, [...path, id])
      }
    }
    await follow(mission, [mission.id])
  }
  return [put('fleet', { ...value, dependency_edits: value.dependency_edits + 1, updated_at: fleet.now() }, expects)]
}

export async function childrenOf(fleet: Fleet, id: string): Promise<Mission[]> {
  const children: Mission[] = []
  for await (const { value } of all(fleet, 'missions', 'parent', [id])) children.push(value)
  return children
}
