import { InvalidInput, NotAllowed } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { Mission, type MissionSettings, type Status } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import * as landings from '../../domain/rules/landing.ts'
import * as life from '../../domain/rules/life.ts'
import { named } from '../../domain/rules/named.ts'
import { DELETABLE } from '../../domain/rules/states.ts'
import { isReady } from '../../domain/rules/waiting.ts'
import { commitNamed } from '../../git/index.ts'
import type { Batch, Change, Check, Stored } from '../../store/index.ts'
import { type Ask, by, changeMission, oncePerKey } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { requireShown } from '../landing/candidates.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { requirePullRequests } from '../pull-requests/open-pull-request.ts'
import { current, dependenciesOf, dependentsOf, fleetState, lookUp, put } from '../records.ts'
import { discarded, forgetMission, leftBehind, stillHolds } from '../worktrees/retiring.ts'
import { isScript, isScriptAfter, requireCodingAgent } from './agents.ts'
import { keepTold, requireStored } from './images.ts'
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
  const { ready, changes } = await linked(fleet, draft)
  const next = autoDispatch
    ? life.dispatch(draft, ready, null, when, 'auto_dispatched')
    : { mission: draft, events: [] }
  return {
    subject: draft.id,
    changes: [put('missions', next.mission, 'absent'), ...changes],
    checks: [{ collection: 'projects', id: project.id, expects: version }],
    events: [created, ...next.events],
  }
}

/** The settings that may be edited while an agent works: those that do not change the work itself. */
const EDITABLE: Status[] = ['draft', 'queued', 'needs_input', 'waiting', 'review', 'failed', 'cancelled']
const ALWAYS_EDITABLE = new Set(['title', 'tags', 'priority'])
/** The settings that decide which agent works, and what it is held to. */
const HELD = new Set<string>([
  ...['agent', 'model', 'engine', 'effort', 'tool_preset', 'allowed_tools', 'approvals'],
  ...['max_turns', 'max_budget_usd', 'images'],
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
    const depends_on = settings.depends_on && [...settings.depends_on, ...(await unseenBy(fleet, mission))]
    const edited = { ...mission, ...settings, ...(depends_on && { depends_on }), ...(prompt && { prompt }), script }
    if (Object.keys(settings).some(field => HELD.has(field))) requireHeld(fleet, edited, project)
    const isLinked = settings.depends_on || settings.parent_mission_id
    const guard = isLinked ? await againstCycles(fleet, edited) : []
    const { ready, changes, checks } = isLinked
      ? { checks: [], ...(await linked(fleet, edited)) }
      : { changes: [], ...(await readiness(fleet, edited)) }
    const change = mission.status === 'queued' ? { ...edited, ready } : edited
    return {
      ...life.step(mission, change, when, 'mission_updated', { data: { fields: Object.keys(fields) } }),
      changes: [...guard, ...changes],
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

/** What a person may add when they start an agent. */
export interface Wish {
  /** Settings that the mission keeps. */
  override?: Override
  /** For the next session only. */
  message?: string
  images?: readonly string[]
}

/** The mission as its agent is shown it, with the images of the message. */
export const shown = <M extends Pick<Mission, 'images'>>(mission: M, { images = [] }: Pick<Wish, 'images'>): M => ({
  ...mission,
  images: [...mission.images, ...images],
})

const asked =
  (decide: typeof life.dispatch | typeof life.retry) =>
  async (fleet: Fleet, ask: Ask, id: string, wish: Wish = {}): Promise<Stored<Mission>> => {
    const project = await projectOf(fleet, id)
    const settings = await checkedSettings(fleet, wish.override ?? {}, project)
    const instructions = await keepTold(fleet, wish.message, wish.images)
    return changeMission(fleet, id, ask, async (mission, when) => {
      const script = isScriptAfter(fleet, ask, mission, { agent: settings.agent, text: false })
      requireHeld(fleet, shown({ ...mission, ...settings }, wish), project)
      const { ready, checks } = await readiness(fleet, mission)
      return { ...decide({ ...mission, ...settings, script }, ready, instructions, when), checks }
    })
  }

const queueDraft = asked(life.dispatch)
export const retryMission = asked(life.retry)
export const resumeMission = asked(life.resume)
export const reopenMission = asked(life.reopen)

/** Dispatching a queued mission again changes nothing and is no mistake: a hundred requests make one session. */
export async function dispatchMission(fleet: Fleet, ask: Ask, id: string, wish: Wish = {}): Promise<Stored<Mission>> {
  const plain = !wish.message && !wish.images?.length && Object.keys(wish.override ?? {}).length === 0
  const found = await current(fleet, 'missions', id)
  if (plain && found.value.status === 'queued') return found
  return queueDraft(fleet, ask, id, wish)
}

export const requestCancel = (fleet: Fleet, ask: Ask, id: string, reason?: string): Promise<Stored<Mission>> =>
  changeMission(fleet, id, ask, (mission, when) => life.requestCancel(requireNoMember(mission), when, reason))

/** What ends a mission would leave a team member without one. */
function requireNoMember(mission: Mission): Mission {
  if (!mission.member) return mission
  throw new NotAllowed(`Mission ${mission.id} is that of a team member (${mission.title}).`, {
    try: 'fleet team pause, or fleet team dismiss',
  })
}

/** `expected`: the candidate that the person was shown. */
export const requestLanding = (
  fleet: Fleet,
  ask: Ask,
  id: string,
  { force = false, expected }: { force?: boolean; expected?: string },
): Promise<Stored<Mission>> =>
  changeMission(fleet, id, ask, async (mission, when) =>
    landings.requestLanding(await requireShown(fleet, requireNoMember(mission), expected), when, force),
  )

export const rejectMission = (fleet: Fleet, ask: Ask, id: string, reason?: string): Promise<Stored<Mission>> =>
  changeMission(fleet, id, ask, (mission, when) => life.reject(requireNoMember(mission), reason, when))

export const reconsiderMission = (fleet: Fleet, ask: Ask, id: string): Promise<Stored<Mission>> =>
  changeMission(fleet, id, ask, (mission, when) => life.reconsider(mission, when))

export const requestUndo = (fleet: Fleet, ask: Ask, id: string): Promise<Stored<Mission>> =>
  changeMission(fleet, id, ask, (mission, when) => landings.requestUndo(mission, when))

/** The mission of somebody who was dismissed is like any other. */
async function requireNoPresentMember(fleet: Fleet, mission: Mission): Promise<void> {
  const member = mission.member && (await fleet.store.get('members', mission.member.id))
  if (member && !member.value.dismissed_at) requireNoMember(mission)
}

const MOST_TOLD = 20

export async function deleteMission(fleet: Fleet, ask: Ask, id: string, discard: boolean): Promise<void> {
  await oncePerKey(fleet, ask, async () => {
    const { value: mission, version } = await current(fleet, 'missions', id)
    await requireNoPresentMember(fleet, mission)
    life.requireStatus(mission, DELETABLE, `fleet cancel ${id}`)
    if (mission.undo) throw new NotAllowed(`Mission ${id} is being undone.`, { try: `fleet show ${id}` })
    life.requireFree(mission)
    const left = await leftBehind(fleet, id)
    if (left.length && !discard) throw stillHolds(left, `fleet mission delete ${id} --discard`)
    // Later stages of a running workflow are not in this list. requireNoStage protects their dependencies.
    const all = await dependentsOf(wholeOf(fleet), mission)
    const dependents = all
      .filter(each => isSeen(fleet, each))
      .slice(0, MOST_TOLD)
      .map(each => each.id)
    if (all.length && !dependents.length) throw new NotAllowed(`Other work depends on mission ${id}.`)
    if (dependents.length) {
      throw new NotAllowed(`Other missions depend on mission ${id}: ${dependents.join(', ')}.`, {
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
    throw new NotAllowed(`Mission ${id} is a stage of workflow ${at.id}, which is running.`, {
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
  if (settings.images) await requireStored(fleet, settings.images)
  if (settings.landing === 'pull-request') await requirePullRequests(fleet, project)
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

/** What a mission waits for may be in a project that the caller may not see. It waits for it all the same. */
const wholeOf = (fleet: Fleet): Fleet => fleet.view?.whole ?? fleet
const isSeen = ({ view }: Fleet, { project_id }: Mission): boolean => !view || view.projects.has(project_id)

/** The dependencies that an edit by this caller cannot name, and so does not remove. */
async function unseenBy(fleet: Fleet, mission: Mission): Promise<string[]> {
  if (!fleet.view) return []
  const dependencies = await dependenciesOf(wholeOf(fleet), mission)
  return dependencies.filter(({ value }) => !isSeen(fleet, value)).map(({ value }) => value.id)
}

export const projectOf = async (fleet: Fleet, missionId: string): Promise<Project> =>
  (await current(fleet, 'projects', (await current(fleet, 'missions', missionId)).value.project_id)).value

/** Resolved when it is written, so that a branch that moves before the mission starts changes nothing. */
export async function startCommit(project: Project, ref: string): Promise<string> {
  if (project.worktree === 'none') throw new InvalidInput('base_ref', `${project.path} is not a repository`)
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
 * Whether a mission could start as far as its dependencies go, and the versions this answer rests on. A dependency that
 * ends before the commit makes the commit fail, so its end is never missed.
 */
export async function readiness(fleet: Fleet, mission: Mission): Promise<{ ready: boolean; checks: Check[] }> {
  const dependencies = await dependenciesOf(wholeOf(fleet), mission)
  const checks = dependencies.map(d => ({ collection: 'missions' as const, id: d.value.id, expects: d.version }))
  return {
    ready: isReady(
      mission,
      dependencies.map(d => d.value),
    ),
    checks,
  }
}

/**
 * Whether a mission that is made or edited could start, and the changes to write with it: its dependencies and its
 * parent name it. Lists may lag behind, and a deletion of one of those at the same time must conflict.
 */
export async function linked(fleet: Fleet, mission: Mission): Promise<{ ready: boolean; changes: Change[] }> {
  const { id, depends_on, parent_mission_id } = mission
  const dependencies = await dependenciesOf(wholeOf(fleet), mission)
  // The place of a member is its own, and goes on to its next task.
  if (mission.start_from === 'share' && (mission.task || dependencies[0]?.value.task || dependencies[0]?.value.member))
    throw new InvalidInput('start_from', 'a task of a team shares its worktree with no other mission')
  const gone = dependencies.find(({ value }) => value.deleting)
  if (gone) throw new NotAllowed(`Mission ${gone.value.id} is being deleted.`)
  const isApart = parent_mission_id !== null && !depends_on.includes(parent_mission_id)
  const parent = isApart ? await fleet.store.get('missions', parent_mission_id) : undefined
  const naming = (other: Mission): Mission => ({
    ...other,
    ...(depends_on.includes(other.id) && { dependents: named(other.dependents, id) }),
    ...(parent_mission_id === other.id && { parts: named(other.parts, id) }),
  })
  const ready = isReady(
    mission,
    dependencies.map(d => d.value),
  )
  // Those that the caller may not see were named by somebody else, and name it already.
  const own = dependencies.filter(({ value }) => isSeen(fleet, value))
  const others = parent ? [...own, parent] : own
  return { ready, changes: others.map(({ value, version }) => put('missions', naming(value), version)) }
}

/** The links between missions. None of them may form a circle. */
const WAYS: Record<'depends_on' | 'parent_mission_id', (mission: Mission) => readonly string[]> = {
  depends_on: mission => mission.depends_on,
  parent_mission_id: mission => (mission.parent_mission_id ? [mission.parent_mission_id] : []),
}

/** Follows the links of an edited mission. The count that it increments makes two edits at once see each other. */
export async function againstCycles(fleet: Fleet, mission: Mission): Promise<Change[]> {
  const { value, expects } = await fleetState(fleet)
  for (const [field, leadsTo] of Object.entries(WAYS)) {
    const seen = new Set<string>()
    const follow = async (from: Mission, path: string[]): Promise<void> => {
      for (const id of leadsTo(from)) {
        if (id === mission.id)
          throw new InvalidInput(field, `would make a circle${fleet.view ? '' : `: ${[...path, id].join(' → ')}`}`)
        if (seen.has(id)) continue
        seen.add(id)
        const next = await wholeOf(fleet).store.get('missions', id)
        if (next) await follow(next.value, [...path, id])
      }
    }
    await follow(mission, [mission.id])
  }
  return [put('fleet', { ...value, dependency_edits: value.dependency_edits + 1, updated_at: fleet.now() }, expects)]
}
