import { NotAllowed, NotFound } from '../../domain/errors.ts'
import type { NewEvent } from '../../domain/records/event.ts'
import type { Session } from '../../domain/records/session.ts'
import { Member, type Team } from '../../domain/records/team.ts'
import type { By } from '../../domain/rules/life.ts'
import type { Change, Stored } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { all, asTheyAre, current, derivedId, lookUp, put } from '../records.ts'

export const OPERATOR = 'operator'

/** A person is the same member of a team for ever. */
export const personId = (teamId: string, actor: string): string => derivedId('member', teamId, actor)

/** The owner of the fleet as a member: mail to the operator waits in their inbox. */
export const operatorOf = (team: Pick<Team, 'id' | 'project_id'>, { now }: By): Member =>
  Member.parse({
    ...{ id: personId(team.id, 'person'), team_id: team.id, project_id: team.project_id },
    ...{ handle: OPERATOR, role: 'team-lead', person: 'person', created_at: now, updated_at: now },
  })

type Kind = Extract<
  NewEvent['kind'],
  `${'team' | 'member' | 'mail' | 'swarm' | 'post' | 'checkpoint' | 'reservation' | 'spawn'}_${string}`
>

/** An event of a team. Pages and sockets find the team in its data. */
export const aboutTeam = (
  { id: team, project_id }: Pick<Team, 'id' | 'project_id'>,
  kind: Kind,
  { actor, now }: By,
  data: Record<string, unknown> = {},
): NewEvent => ({ kind, time: now, actor, project_id, data: { team, ...data } })

/** The team with this id or name, which is not deleted. */
export async function lookUpTeam(fleet: Fleet, ref: string): Promise<Stored<Team>> {
  const named = (await teamsCalled(fleet, ref)).filter(({ value }) => value.ended_at === null)
  if (named.length > 1)
    throw new NotAllowed(`Several projects have a team called ${ref}.`, {
      try: `Give its id: ${named.map(({ value }) => value.id).join(', ')}`,
    })
  const found = named[0] ? await current(fleet, 'teams', named[0].value.id) : await lookUp(fleet, 'teams', ref)
  if (found.value.ended_at) throw new NotFound('team', ref, { try: 'fleet team list' })
  return found
}

/** The team with exactly this name. */
export async function teamNamed(fleet: Fleet, name: string): Promise<Team | undefined> {
  const found = (await teamsCalled(fleet, name)).some(({ value }) => value.ended_at === null)
  return found ? (await lookUpTeam(fleet, name)).value : undefined
}

export const teamsCalled = async (fleet: Fleet, name: string): Promise<Stored<Team>[]> =>
  Array.fromAsync(all(fleet, 'teams', 'name', [name.toLowerCase()]))

export async function teamsOf(fleet: Fleet, projectId?: string): Promise<Team[]> {
  const found = projectId ? all(fleet, 'teams', 'project', [projectId]) : all(fleet, 'teams', 'created')
  return (await Array.fromAsync(found)).map(({ value }) => value)
}

type TeamChange = Partial<Pick<Team, 'description' | 'max_members' | 'max_budget_usd' | 'paused' | 'spawning'>>

export async function changeTeam(fleet: Fleet, ask: Ask, id: string, change: TeamChange): Promise<Stored<Team>> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'teams', id)
    requireTeam(value)
    const when = by(fleet, ask)
    return {
      subject: id,
      changes: [put('teams', { ...value, ...change, updated_at: when.now }, version)],
      events: [aboutTeam(value, 'team_changed', when, { fields: Object.keys(change) })],
    }
  })
  return current(fleet, 'teams', id)
}

type Also = (when: By) => Promise<{ changes: Change[]; events: NewEvent[] }>

/** A team without agents ends, and with it what it alone gives to people. What it wrote stays. */
export async function deleteTeam(fleet: Fleet, ask: Ask, id: string, also: Also): Promise<void> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'teams', id)
    requireTeam(value)
    const agents = value.roster.filter(({ is_agent }) => is_agent)
    if (agents.length)
      throw new NotAllowed(
        `The team ${value.name} still has ${agents.length} ${agents.length === 1 ? 'agent' : 'agents'}: ${agents.map(({ handle }) => handle).join(', ')}.`,
        { try: `fleet team dismiss ${value.name} <member>, or fleet team delete ${value.name} --dismiss` },
      )
    const when = by(fleet, ask)
    const ends = await also(when)
    return {
      subject: id,
      changes: [put('teams', { ...value, ended_at: when.now, updated_at: when.now }, version), ...ends.changes],
      events: [aboutTeam(value, 'team_deleted', when, { name: value.name }), ...ends.events],
    }
  })
}

export function requireTeam({ name, ended_at }: Team): void {
  if (ended_at) throw new NotAllowed(`The team ${name} was deleted.`)
}

/** Who is in it now, the oldest first. The roster decides: lists may lag behind. */
export async function membersOf(fleet: Fleet, { roster }: Pick<Team, 'roster'>): Promise<Member[]> {
  const found = await Promise.all(roster.map(({ member_id }) => fleet.store.get('members', member_id)))
  return found.flatMap(stored => stored?.value ?? [])
}

/** As many of those who left a team are looked for among the newest. */
const MOST_EVER = 100

/** Agents that were dismissed, the newest member first. */
export async function goneFrom(fleet: Fleet, { id }: Pick<Team, 'id'>): Promise<Member[]> {
  const query = { index: 'ever', equals: [id], newestFirst: true, limit: MOST_EVER }
  const { items } = await fleet.store.find('members', query)
  return items.flatMap(({ value }) => (value.dismissed_at && value.person === null ? [value] : []))
}

/** What all its members spent in mail and tasks, also those that were dismissed. */
export async function spentBy(fleet: Fleet, { id }: Pick<Team, 'id'>): Promise<number> {
  let spent = 0
  for await (const { value } of all(fleet, 'members', 'ever', [id]))
    for (const { usage } of await sessionsOfMember(fleet, value)) spent += usage.cost_usd
  return spent
}

/** Its sessions, whatever they worked at. */
export async function sessionsOfMember(fleet: Fleet, { id, session_id }: Member): Promise<Session[]> {
  if (!session_id) return []
  const found = await asTheyAre(fleet, 'sessions', { index: 'member', equals: [id] }, [session_id], isOver)
  return found.map(({ value }) => value)
}

/** The cost of an ended session is final. */
const isOver = ({ status }: Session): boolean => status === 'ended'
