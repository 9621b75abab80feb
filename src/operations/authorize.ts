import { Forbidden, NotFound } from '../domain/errors.ts'
import { teamOfMission } from '../domain/records/mission.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { viewOf } from '../fleet/people/view.ts'
import { lookUp } from '../fleet/records.ts'
import type { Collection } from '../store/index.ts'
import type { Caller, Context, Operation, Principal } from './operation.ts'
import type { Permission } from './permissions.ts'
import { both, holds, isEmpty, type Reach, reachOf, sightOf } from './roles.ts'

/** Fields of inputs that name something in a project, and what it is. */
export const NAMED: Readonly<Record<string, Collection | null>> = {
  project_id: 'projects',
  mission_id: 'missions',
  session_id: 'sessions',
  question_id: 'questions',
  comment_id: 'comments',
  plan_id: 'plans',
  workflow_id: 'workflows',
  loop_id: 'loops',
  schedule_id: 'schedules',
  report_id: 'reports',
  rule_id: 'approval_rules',
  team_id: 'teams',
  mail_id: 'mail',
  swarm_id: 'swarms',
  checkpoint_id: 'checkpoints',
  task_id: 'missions',
  spawn_id: 'spawns',
  // Part of a project's own record.
  server_id: null,
}

/** Throws unless the caller may use this operation at all. Called before the input is read. */
export function authorizeAnywhere(operation: Operation, caller: Caller): void {
  const refusal = refusalOf(operation, caller)
  if (refusal) throw refusal
}

export const mayUse = (operation: Operation, caller: Caller): boolean => refusalOf(operation, caller) === undefined

function refusalOf(operation: Operation, caller: Caller): Forbidden | undefined {
  const { name, agentMay, may } = operation
  if (caller.kind === 'session') return agentMay ? undefined : notForSessions(name)
  if (caller.kind === 'monitor')
    return may === 'metrics.read'
      ? undefined
      : new Forbidden(`A scrape token may not use ${name}: it only reads measurements.`)
  if (may === 'approvals.decide' && isPlugin(caller)) return notForPlugins()
  return isPrincipal(caller) && isEmpty(reachFor(caller, may)) ? notAllowed(caller, operation) : undefined
}

/**
 * Decides for REST, both MCP endpoints, sockets, plugins and the terminal. Returns the fleet as the caller sees it: an
 * operation that runs on it can neither show nor touch anything else.
 */
export async function authorize(
  operation: Operation,
  { fleet, caller }: Pick<Context, 'fleet' | 'caller'>,
  input: Record<string, unknown>,
): Promise<Fleet> {
  authorizeAnywhere(operation, caller)
  if (caller.kind === 'session') {
    if (!operation.agentMay!(caller, input)) throw notForSessions(operation.name)
    return fleet
  }
  const needed = operation.mayAlso?.(input) ?? []
  if (needed.includes('approvals.decide') && isPlugin(caller)) throw notForPlugins()
  if (needed.includes('missions.land') && isAgent(caller))
    throw new Forbidden('An agent lets no work land by itself.', { try: 'Leave that to a person.' })
  if (caller.kind === 'owner' || caller.kind === 'monitor') return fleet
  for (const also of needed) if (isEmpty(reachFor(caller, also))) throw notAllowed(caller, operation, also)
  // Its own browsers and tokens are in no project.
  if (operation.may === 'self.manage') return fleet
  const reach = [operation.may, ...needed].map(permission => reachFor(caller, permission)).reduce(both)
  if (reach === 'fleet') return fleet
  if (touchesFleet(operation, input))
    throw new Forbidden(`${operation.name} concerns the whole fleet, and your role does not.`, {
      try: 'Ask an owner of this fleet.',
    })
  await requireInReach(fleet, caller, operation, input, reach)
  return seenBy(fleet, caller, reach)
}

/** The fleet as it is to a caller who sees so much of it. A token for one team sees no other. */
export function seenBy(fleet: Fleet, caller: Caller, reach: Reach): Fleet {
  if (reach === 'fleet') return fleet
  const spoken = isPrincipal(caller) && caller.team !== undefined ? new Set([caller.team]) : undefined
  const teams = [...reach].flatMap(([project, place]): [string, ReadonlySet<string>][] => {
    const seen = place === 'all' ? spoken : spoken ? place.intersection(spoken) : place
    return seen ? [[project, seen]] : []
  })
  return viewOf(fleet, { projects: new Set(reach.keys()), teams: new Map(teams) })
}

/** For what depends on a record: whether the caller has a permission in its project, or in the team that it is of. */
export function mayIn(caller: Caller, permission: Permission, projectId: string, teamId?: string): boolean {
  if (permission === 'approvals.decide' && isPlugin(caller)) return false
  if (permission === 'missions.land' && isAgent(caller)) return false
  return (
    caller.kind === 'owner' ||
    (isPrincipal(caller) && holds(reachFor(caller, permission), permission, projectId, teamId))
  )
}

export function requireMay(caller: Caller, permission: Permission, projectId: string): void {
  if (mayIn(caller, permission, projectId)) return
  throw new Forbidden(`This needs the permission ${permission}.`, { try: 'Ask an owner of this fleet.' })
}

export const isPrincipal = (caller: Caller): caller is Principal =>
  caller.kind === 'person' || caller.kind === 'service'

/** A person, at a browser or a terminal: no plugin, no service and no agent. */
export const isPerson = (caller: Caller): boolean =>
  caller.kind === 'person' || (caller.kind === 'owner' && !caller.plugin)

/** An agent with a JWT, whoever gave their credential for it. */
export const isAgent = (caller: Caller): boolean => isPrincipal(caller) && caller.forAgent === true

/** Where the caller has a permission. A token may have less than its principal, never more. */
export function reachFor({ grants, limit, forAgent }: Principal, permission: Permission): Reach {
  if (forAgent && permission === 'approvals.decide') return new Map()
  const reach = reachOf(grants, permission)
  return limit === null ? reach : both(reach, reachOf(limit, permission))
}

/** Where the caller may see anything at all. */
export const sightFor = ({ grants, limit }: Pick<Principal, 'grants' | 'limit'>): Reach =>
  limit === null ? sightOf(grants) : both(sightOf(grants), sightOf(limit))

/** A command that names nothing in a project changes the fleet itself. */
function touchesFleet({ kind, touches }: Operation, input: Record<string, unknown>): boolean {
  if (touches) return touches === 'fleet'
  return kind === 'command' && Object.keys(NAMED).every(field => input[field] === undefined)
}

/** For the reference: what an operation concerns. */
export function whereOf({ kind, may, touches, input }: Operation): 'you' | 'fleet' | 'project' | 'either' {
  if (may === 'self.manage') return 'you'
  if (touches) return touches === 'fleet' ? 'fleet' : 'project'
  const named = Object.keys(NAMED).flatMap(field => input.shape[field] ?? [])
  if (kind !== 'command') return 'project'
  if (!named.length) return 'fleet'
  return named.some(field => !field.safeParse(undefined).success) ? 'project' : 'either'
}

/**
 * What the caller may see but not change is refused; what they may not see is not found. Whose role is in a team changes
 * what is of that team, and must name it.
 */
async function requireInReach(
  fleet: Fleet,
  caller: Principal,
  operation: Operation,
  input: Record<string, unknown>,
  reach: Exclude<Reach, 'fleet'>,
): Promise<void> {
  const seen = seenBy(fleet, caller, sightFor(caller))
  for (const [field, collection] of Object.entries(NAMED)) {
    const ref = input[field]
    if (collection === null || typeof ref !== 'string') continue
    const named = await lookUp(seen, collection, ref).catch((error: unknown) => {
      // The operation itself says what is wrong with it.
      if (error instanceof NotFound) return undefined
      throw error
    })
    const value = named?.value as Named | undefined
    const projectId = collection === 'projects' ? value?.id : value?.project_id
    if (projectId === undefined) continue
    const place = reach.get(projectId)
    if (place === undefined) throw notAllowed(caller, operation)
    if (place === 'all' || operation.kind !== 'command' || (collection === 'projects' && namesMore(input))) continue
    const team = await teamOfRecord(seen, collection, value!)
    if (team === undefined || !place.has(team)) throw notOfTeam(operation)
  }
}

type Named = { id: string; project_id?: string; team_id?: string; mission_id?: string | null }

/** Whether an input names something besides a project, which is looked at by itself. */
const namesMore = (input: Record<string, unknown>): boolean =>
  Object.entries(NAMED).some(([field, collection]) => collection !== 'projects' && typeof input[field] === 'string')

/** The team that a record is of. A session, a question or a comment is of the team whose task or member it is about. */
async function teamOfRecord({ store }: Fleet, collection: Collection, record: Named): Promise<string | undefined> {
  if (collection === 'teams') return record.id
  if (record.team_id !== undefined) return record.team_id
  const mission_id = collection === 'missions' ? record.id : record.mission_id
  const mission = mission_id ? (await store.get('missions', mission_id))?.value : undefined
  return mission && teamOfMission(mission)
}

const notOfTeam = ({ name }: Operation): Forbidden =>
  new Forbidden(`Your role is in a team, and ${name} is about something that is not of that team.`, {
    try: 'fleet whoami shows your roles. Ask an owner of this fleet.',
  })

export const isPlugin = (caller: Caller): caller is Plugin => caller.kind === 'owner' && caller.plugin !== undefined
type Plugin = Extract<Caller, { kind: 'owner' }> & { plugin: string }

/** It passes on what a person decides whom its settings name (`requireDecider`), and makes no rules of its own. */
export const notForPlugins = (): Forbidden =>
  new Forbidden('A plugin may not decide about permissions.', {
    try: 'Decide on the page, or name who decides there in "deciders" of its settings.',
  })

const notForSessions = (name: string): Forbidden =>
  new Forbidden(`The token of a session may not use ${name}.`, { try: 'An agent can ask only about its own mission.' })

function notAllowed(caller: Principal, { name, may }: Operation, permission: Permission = may): Forbidden {
  if (isEmpty(sightFor(caller)))
    return new Forbidden('You have no role in this fleet.', { try: 'Ask an owner of this fleet for one.' })
  return new Forbidden(`Your role does not include ${permission}, which ${name} needs.`, {
    try: 'fleet whoami shows your roles. Ask an owner of this fleet.',
  })
}
