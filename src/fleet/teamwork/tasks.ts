import { InvalidInput, NotAllowed, NotFound } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { type Assignee, type Mission, MissionSettings } from '../../domain/records/mission.ts'
import { Claim } from '../../domain/records/report.ts'
import type { Member, Team } from '../../domain/records/team.ts'
import { about, type By, type Step } from '../../domain/rules/life.ts'
import * as rules from '../../domain/rules/team-task.ts'
import type { Change, Check, Stored } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { againstCycles, linked, newMission, projectOf, readiness } from '../missions/missions.ts'
import { requireHeld } from '../missions/requirements.ts'
import { all, current, dependenciesOf, lookUp, put } from '../records.ts'
import { submitReport } from '../sessions/inside.ts'
import { requireTeam } from '../teams/teams.ts'

export interface NewTask
  extends Pick<MissionSettings, 'title' | 'acceptance_criteria' | 'mission_type' | 'priority' | 'tags'> {
  description: string
  max_budget_usd?: number | null
  /** Tasks that must be done before it starts. */
  blocked_by: readonly string[]
}

const MOST_BLOCKERS = 30

/** Makes a task. It starts once it has a member that is free, and what it depends on is done. */
export async function createTask(
  fleet: Fleet,
  ask: Ask,
  teamId: string,
  { description, blocked_by, ...wanted }: NewTask,
  to: Member | null,
): Promise<Stored<Mission>> {
  const { value: team } = await current(fleet, 'teams', teamId)
  const depends_on = await blockersNamed(fleet, team, blocked_by)
  const given = to ? await settingsOf(fleet, to) : {}
  const settings = MissionSettings.parse({ ...wanted, ...given, depends_on })
  const { value: project } = await current(fleet, 'projects', team.project_id)
  requireHeld(fleet, settings, project)
  const prompt = await fleet.blobs.keep(description || wanted.title)
  const id = await oncePerKey(fleet, ask, async () => {
    const { value: now, version } = await current(fleet, 'teams', teamId)
    requireTeam(now)
    const when = by(fleet, ask)
    const task = { team_id: teamId, assignee: to && assigneeOf(to) }
    const made = await newMission(fleet, project.id, { ...settings, id: newId(), prompt, task } as never, true, when)
    const told = { team: teamId, title: wanted.title, member: to?.id ?? null, handle: to?.handle ?? null, was: null }
    const event = about({ id: made.subject, project_id: project.id }, 'task_assigned', when, { data: told })
    return {
      ...made,
      checks: [
        ...(made.checks ?? []),
        { collection: 'teams', id: teamId, expects: version },
        ...(to ? [await presence(fleet, to)] : []),
      ],
      events: [...(made.events ?? []), event],
    }
  })
  return current(fleet, 'missions', id)
}

const assigneeOf = ({ id, handle, person }: Member): Assignee => ({
  ...{ member_id: id, handle, is_agent: person === null },
})

/** Whoever is dismissed at the same time gets no task. */
async function presence(fleet: Fleet, { id }: Member): Promise<Check> {
  const { value, version } = await current(fleet, 'members', id)
  if (value.dismissed_at) throw new NotAllowed(`${value.handle} was dismissed.`)
  return { collection: 'members', id, expects: version }
}

/** A task runs as its member does. */
async function settingsOf(fleet: Fleet, { mission_id }: Member): Promise<Partial<MissionSettings>> {
  if (!mission_id) return {}
  const { agent, model, effort, engine, tool_preset, allowed_tools, approvals, ...rest } = (
    await current(fleet, 'missions', mission_id)
  ).value
  const { max_turns, timeout_seconds, context_limit_percent } = rest
  return {
    ...{ agent, model, effort, engine, tool_preset, allowed_tools, approvals },
    ...{ max_turns, timeout_seconds, context_limit_percent },
  }
}

/** A task by its id or the beginning of it, of one team or of all that the caller sees. */
export async function lookUpTask(
  fleet: Fleet,
  team: Pick<Team, 'id'> | undefined,
  ref: string,
): Promise<Stored<Mission>> {
  const isTheirs = ({ task }: Mission): boolean => task !== null && (team === undefined || task.team_id === team.id)
  return lookUp(fleet, 'missions', ref, isTheirs).catch(error => {
    if (error instanceof NotFound) throw noTask(ref)
    throw error
  })
}

const SHORTEST_REF = 6

/** The task that a word names, if it looks like an id: of one team, or of all that the caller sees. */
export async function taskCalled(fleet: Fleet, team: Team | undefined, word: string): Promise<Mission | undefined> {
  if (word.length < SHORTEST_REF || !/^[a-z0-9]+$/i.test(word)) return undefined
  return lookUpTask(fleet, team, word).then(
    ({ value }) => value,
    error => {
      if (error instanceof NotFound) return undefined
      throw error
    },
  )
}

const noTask = (ref: string): NotFound => new NotFound('task', ref, { try: 'fleet team task list' })

async function blockersNamed(fleet: Fleet, team: Pick<Team, 'id'>, refs: readonly string[]): Promise<string[]> {
  if (refs.length > MOST_BLOCKERS) throw new InvalidInput('blocked_by', `names more than ${MOST_BLOCKERS} tasks`)
  const found = await Promise.all(refs.map(ref => lookUpTask(fleet, team, ref)))
  return [...new Set(found.map(({ value }) => value.id))]
}

type Decision = Step & { changes?: Change[]; checks?: Check[] }

/** A command on one task. Null: it is so already, and nothing is written. */
async function changeTask(
  fleet: Fleet,
  ask: Ask,
  id: string,
  decide: (task: rules.Task, when: By) => Promise<Decision | null>,
): Promise<Mission> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'missions', id)
    if (value.deleting) throw new NotAllowed(`Task ${id} is being deleted.`)
    rules.requireTask(value)
    const next = await decide(value, by(fleet, ask))
    if (!next) return { subject: id, changes: [] }
    const { mission, changes = [], checks, events } = next
    return { subject: id, changes: [put('missions', mission, version), ...changes], checks, events }
  })
  return (await current(fleet, 'missions', id)).value
}

/** Gives a task to a member, or back to the team. A session at work is stopped, and its work goes with the task. */
export const assignTask = (fleet: Fleet, ask: Ask, id: string, to: Member | null): Promise<Mission> =>
  giving(fleet, ask, id, to, rules.assign)

/** A member takes a task that nobody has. */
export const claimTask = (fleet: Fleet, ask: Ask, id: string, to: Member): Promise<Mission> =>
  giving(fleet, ask, id, to, (task, assignee, when, settings) => rules.claim(task, assignee!, when, settings))

async function giving(
  fleet: Fleet,
  ask: Ask,
  id: string,
  to: Member | null,
  decide: typeof rules.assign,
): Promise<Mission> {
  const project = await projectOf(fleet, id)
  const settings = to ? await settingsOf(fleet, to) : {}
  return changeTask(fleet, ask, id, async (task, when) => {
    const step = decide(task, to && assigneeOf(to), when, settings)
    if (!step) return null
    requireHeld(fleet, step.mission, project)
    return { ...step, checks: to ? [await presence(fleet, to)] : [] }
  })
}

/** Says what a task waits for. The blockers are tasks of the same team; a circle is refused. */
export async function blockTask(
  fleet: Fleet,
  ask: Ask,
  id: string,
  { blocked_by, reason }: { blocked_by: readonly string[]; reason: string },
): Promise<Mission> {
  const { value } = await current(fleet, 'missions', id)
  rules.requireTask(value)
  const blockers = await blockersNamed(fleet, { id: value.task.team_id }, blocked_by)
  return changeTask(fleet, ask, id, async (before, when) => {
    const task = { ...before, depends_on: [...new Set([...before.depends_on, ...blockers])] }
    const guard = await againstCycles(fleet, task)
    const { ready, changes } = await linked(fleet, task)
    return { ...rules.block(task, { reason, ready, blockers }, when), changes: [...guard, ...changes] }
  })
}

/** Somebody says that a task is done. A session that works at it reports so, and its work is taken in at its end. */
export async function completeTask(
  fleet: Fleet,
  ask: Ask,
  id: string,
  { summary, session_id }: { summary: string; session_id?: string },
): Promise<Mission> {
  const { value } = await current(fleet, 'missions', id)
  const own = session_id ? (await current(fleet, 'sessions', session_id)).value : undefined
  if (own?.mission_id === id) {
    rules.requireTask(value)
    rules.requireUnblocked(value, await blockersIn(fleet, value))
    const claim = Claim.parse({ status: 'completed', summary, ...(summary && { what_done: [summary] }) })
    if (!own.claim || summary) await submitReport(fleet, ask, own.id, claim)
    return value
  }
  return changeTask(fleet, ask, id, async (task, when) => {
    rules.requireUnblocked(task, await blockersIn(fleet, task))
    const { checks } = await readiness(fleet, task)
    const step = rules.complete(task, when)
    return step && { ...step, checks }
  })
}

const blockersIn = async (fleet: Fleet, mission: Mission): Promise<Mission[]> =>
  (await dependenciesOf(fleet, mission)).map(({ value }) => value)

export type TaskFilter = 'all' | 'mine' | 'unassigned'

const PAGE = 100

/** The tasks of a team, the newest first; without those that are over, unless they are asked for. */
export async function listTasks(
  fleet: Fleet,
  team: Pick<Team, 'id'>,
  {
    filter,
    member,
    over,
    limit,
    cursor,
  }: {
    filter: TaskFilter
    member: Member | undefined
    over: boolean
    limit: number
    cursor?: string
  },
): Promise<{ items: Mission[]; cursor?: string }> {
  if (filter === 'mine' && !member) return { items: [] }
  const index =
    filter === 'mine'
      ? { index: 'assigned', equals: [member!.id] }
      : { index: filter === 'unassigned' ? 'unassigned' : over ? 'task' : 'open_task', equals: [team.id] }
  const page = await fleet.store.find('missions', { ...index, newestFirst: true, limit: Math.min(limit, PAGE), cursor })
  // Lists may lag behind, so each is read as it is now.
  const found = await Promise.all(page.items.map(({ value }) => fleet.store.get('missions', value.id)))
  return { items: found.flatMap(stored => stored?.value ?? []), cursor: page.cursor }
}

/** What a task waits for, and what of it is not done. */
export async function blockersOf(fleet: Fleet, mission: Mission): Promise<{ all: Mission[]; open: Mission[] }> {
  const all = await blockersIn(fleet, mission)
  return { all, open: rules.blockersOf(mission, all) }
}

/** A team that is deleted would leave its tasks to nobody. */
export async function requireNoOpenTasks(fleet: Fleet, { id, name }: Team): Promise<void> {
  const { items } = await fleet.store.find('missions', { index: 'open_task', equals: [id], limit: 20 })
  if (!items.length) return
  const ids = items.map(({ value }) => value.id)
  throw new NotAllowed(`The team ${name} still has open tasks: ${ids.join(', ')}.`, {
    try: `fleet team task complete ${ids[0]}, or fleet cancel ${ids[0]}`,
    facts: { tasks: ids },
  })
}

/**
 * Whoever was dismissed leaves their tasks to the team, each with its candidate. One that a person has taken over is
 * returned once they hand it back.
 */
export async function returnTasks(fleet: Fleet, memberId: string): Promise<void> {
  for await (const { value } of all(fleet, 'missions', 'assigned', [memberId])) {
    const { value: now } = await current(fleet, 'missions', value.id)
    if (rules.isTask(now) && rules.isReturned(now) && rules.holderOf(now)?.member_id === memberId)
      await assignTask(fleet, { operation: 'team_unassign', actor: 'fleet' }, value.id, null)
  }
}
