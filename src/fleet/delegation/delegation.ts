import { InvalidInput, NotAllowed } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { type Mission, MissionSettings } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
import { awaitsOf, isAwaitable, mayGoOn } from '../../domain/rules/delegation.ts'
import * as life from '../../domain/rules/life.ts'
import { named } from '../../domain/rules/named.ts'
import type { StoredText } from '../../domain/text.ts'
import { dropRef, keptRef, snapshot } from '../../git/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import { budgetLeft } from '../dispatch/budgets.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { isScript, requireCodingAgent } from '../missions/agents.ts'
import { newMission } from '../missions/missions.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { childrenOf, current, put } from '../records.ts'
import { changeSession } from '../sessions/inside.ts'
import { gitWithin } from '../sessions/sandbox.ts'

/** What an agent says about work that it hands on. */
export interface SubMission {
  title: string
  detailed_prompt: string
  acceptance_criteria?: string
  mission_type?: Mission['mission_type']
  priority?: number
  agent?: string
  model?: string
  tool_preset?: Mission['tool_preset']
  max_budget_usd?: number
  /** Starts only after the mission that makes it is done. */
  wait_for_me: boolean
  /** `me`: starts from what its parent has done so far, committed or not. */
  from: 'base' | 'me'
}

/** Makes a sub-mission. It may do no more than its parent, and spends from its parent's budget. */
export async function delegate(fleet: Fleet, ask: Ask, sessionId: string, wanted: SubMission): Promise<Mission> {
  const { value: session } = await current(fleet, 'sessions', sessionId)
  const { value: project } = await current(fleet, 'projects', session.project_id)
  const script = isScript(fleet, ask, wanted.agent)
  const agent = wanted.agent ?? (await agentAfter(fleet, session, project))
  if (wanted.wait_for_me && wanted.from === 'me')
    throw new InvalidInput(
      'from',
      'is for a sub-mission that starts now; one that waits for you starts from what you finish',
    )
  const id = newId()
  const prompt = await fleet.blobs.keep(wanted.detailed_prompt)
  const base_ref = wanted.from === 'me' ? await snapshotOf(fleet, session, project, id) : null
  let made = ''
  try {
    made = await handOn(fleet, ask, { session, project, wanted: { ...wanted, agent }, script, id, prompt, base_ref })
  } finally {
    // It was refused, or made before under the same key, so nothing starts from this snapshot.
    if (base_ref && made !== id) await dropRef(await repositoryOf(project), keptRef(id, 0))
  }
  return (await current(fleet, 'missions', made)).value
}

/** The agent of its parent, unless that runs scripts: a sub-mission is described in prose. */
const agentAfter = async (fleet: Fleet, { agent }: Session, project: Project): Promise<string> =>
  fleet.agents.ofSession(agent).can.scripts ? requireCodingAgent(fleet, project) : agent

interface Part {
  session: Session
  project: Project
  wanted: SubMission & { agent: string }
  script: boolean
  id: string
  prompt: StoredText
  base_ref: string | null
}

function handOn(
  fleet: Fleet,
  ask: Ask,
  { session, project, wanted, script, id, prompt, base_ref }: Part,
): Promise<string> {
  return oncePerKey(fleet, ask, async () => {
    const parent = await current(fleet, 'missions', session.mission_id)
    if (parent.value.cancel_requested) throw new NotAllowed(`Mission ${parent.value.id} is being cancelled.`)
    await requireRoom(fleet, parent.value)
    const settings = {
      ...inherited(parent.value, session, wanted),
      max_budget_usd: await granted(fleet, parent.value, session, project, wanted.max_budget_usd),
    }
    const when = by(fleet, ask)
    const made = await newMission(
      fleet,
      project.id,
      {
        ...settings,
        ...(script && { tool_preset: session.tool_preset ?? settings.tool_preset }),
        script,
        id,
        prompt,
        base_ref,
      },
      true,
      when,
    )
    const told = life.about(parent.value, 'delegated', when, { session_id: session.id, data: { to: id } })
    // Writing the parent too keeps two sub-missions that are made at once from both being the last allowed one.
    const { spawned, parts, dependents } = parent.value
    const counted = {
      ...parent.value,
      ...{ spawned: spawned + 1, parts: named(parts, id) },
      dependents: wanted.wait_for_me ? named(dependents, id) : dependents,
    }
    const others = made.changes.filter(change => !('put' in change && change.value.id === parent.value.id))
    return {
      ...made,
      changes: [...others, put('missions', counted, parent.version)],
      events: [...(made.events ?? []), told],
    }
  })
}

function inherited(parent: Mission, session: Session, wanted: Part['wanted']): MissionSettings {
  const { wait_for_me, from, detailed_prompt, max_budget_usd, ...given } = wanted
  return MissionSettings.parse({
    model: given.agent === session.agent ? session.model : null,
    timeout_seconds: parent.timeout_seconds,
    max_turns: parent.max_turns,
    tool_preset: parent.tool_preset,
    allowed_tools: parent.allowed_tools,
    approvals: parent.approvals,
    subdirectory: parent.subdirectory,
    context_mode: parent.context_mode,
    priority: parent.priority,
    // Its work is part of its parent's. On the base branch it would bring along unfinished work of the parent.
    landing: from === 'me' ? 'never' : parent.landing,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    parent_mission_id: parent.id,
    depends_on: wait_for_me ? [parent.id] : [],
  })
}

async function requireRoom(fleet: Fleet, parent: Mission): Promise<void> {
  const { maxSpawnDepth, maxSubMissions } = fleet.settings
  if ((await depthOf(fleet, parent)) >= maxSpawnDepth)
    throw new NotAllowed(`Sub-missions may be nested at most ${maxSpawnDepth} deep, and this one would be deeper.`, {
      try: 'Do it yourself, or say in your report what is left to do.',
    })
  if (parent.spawned >= maxSubMissions)
    throw new NotAllowed(
      `A mission may have at most ${maxSubMissions} sub-missions, and this one has that many already.`,
      {
        try: 'Do it yourself, or say in your report what is left to do.',
      },
    )
}

/** How many missions are above it. */
async function depthOf(fleet: Fleet, mission: Mission): Promise<number> {
  const parent = mission.parent_mission_id && (await fleet.store.get('missions', mission.parent_mission_id))
  return parent ? 1 + (await depthOf(fleet, parent.value)) : 0
}

/** What a sub-mission may spend of its parent's budget: the requested amount, or half of what is left. */
async function granted(
  fleet: Fleet,
  parent: Mission,
  session: Session,
  project: Project,
  wanted: number | undefined,
): Promise<number | null> {
  const budget = await budgetLeft(fleet, parent, project)
  if (budget === null) return wanted ?? null
  const left = budget - (await current(fleet, 'sessions', session.id)).value.usage.cost_usd
  const share = wanted ?? left / 2
  if (share > 0 && share <= left) return share
  throw new NotAllowed(`Only $${Math.max(0, left).toFixed(2)} of its budget is left.`, {
    try: 'Ask for less, or do it yourself.',
    facts: { left },
  })
}

/** A commit of the worktree of a session at work, kept under the id of what uses it. */
export async function snapshotOf(fleet: Fleet, session: Session, project: Project, childId: string): Promise<string> {
  if (!session.worktree)
    throw new NotAllowed('This project has no worktrees, so there is nothing to start from.', { try: 'from: base' })
  return snapshot(await repositoryOf(project), {
    worktree: session.worktree,
    message: `Work under way on mission ${session.mission_id}\n`,
    ref: keptRef(childId, 0),
    never: project.copy_files,
    within: await gitWithin(fleet, session, (await current(fleet, 'missions', session.mission_id)).value, project),
  })
}

/** Notes which sub-missions the session waits for after its turn. Without any it goes on. */
export async function awaitChildren(fleet: Fleet, ask: Ask, sessionId: string): Promise<string[]> {
  const session = await changeSession(fleet, ask, sessionId, async value => {
    const parent = { id: value.mission_id, project_id: value.project_id }
    return { session: { ...value, awaits: awaitsOf(parent.id, await partsOf(fleet, parent), value.awaits) } }
  })
  return session.awaits?.children ?? []
}

/** The sub-missions of a mission in the same project, which is what its agents see. */
export async function partsOf(fleet: Fleet, parent: Pick<Mission, 'id' | 'project_id'>): Promise<Mission[]> {
  return (await childrenOf(fleet, parent.id)).filter(({ project_id }) => project_id === parent.project_id)
}

export const awaitable = (parent: string, children: readonly Mission[]): Mission[] =>
  children.filter(child => isAwaitable(child, parent, children))

/** Lets a mission go on if the sub-missions it waits for have ended. */
export async function goOnAfterChildren(fleet: Fleet, parentId: string): Promise<void> {
  await retryOnConflict(async () => {
    const stored = await fleet.store.get('missions', parentId)
    if (stored?.value.status !== 'waiting') return
    const session = stored.value.session_id && (await fleet.store.get('sessions', stored.value.session_id))
    if (!mayGoOn(session ? session.value.awaits : null, await childrenOf(fleet, parentId))) return
    const { mission, events } = life.childrenEnded(stored.value, { actor: 'fleet', now: fleet.now() })
    const changes = [put('missions', mission, stored.version)]
    await fleet.commit('commit.dependency-met', { changes, events, isRepeatable: true })
  })
}
