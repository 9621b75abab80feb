import { Forbidden, InvalidInput } from '../domain/errors.ts'
import type { Member, MemberRole, Team } from '../domain/records/team.ts'
import { isGroup } from '../domain/rules/mail.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { current, lookUp } from '../fleet/records.ts'
import { findPerson, personIn } from '../fleet/teams/members.ts'
import { lookUpTeam, teamsOf } from '../fleet/teams/teams.ts'
import { isPrincipal, mayIn } from './authorize.ts'
import { actorOf } from './inputs.ts'
import type { Context } from './operation.ts'
import type { Permission } from './permissions.ts'
import { holdsOneOf } from './roles.ts'

/** The team that a caller means. An agent means its own; a person names one, unless they see only one. */
export async function teamOf(context: Context, ref: string | undefined): Promise<Team> {
  const own = await ownMember(context)
  if (own) {
    const { value } = await current(context.fleet, 'teams', own.team_id)
    if (ref === undefined || ref === value.id || ref.toLowerCase() === value.name.toLowerCase()) return value
    throw new Forbidden(`You are a member of the team ${value.name}, and of no other.`)
  }
  if (ref !== undefined) return (await lookUpTeam(context.fleet, ref)).value
  const spoken = await teamOfToken(context)
  if (spoken) return spoken
  const teams = await teamsOf(context.fleet)
  if (teams.length === 1) return teams[0]!
  const names = teams.map(({ name }) => name).join(', ')
  throw new InvalidInput(
    'team_id',
    names ? `is missing: there are the teams ${names}` : 'is missing: there is no team yet',
  )
}

/** The team outside of which nothing exists for the caller: that of an agent, or of a token for one team. */
export const onlyTeamOf = (context: Context): Promise<Team | undefined> =>
  context.caller.kind === 'session' ? teamOf(context, undefined) : teamOfToken(context)

/** A record of a team that the caller belongs to, or may see. To an agent, those of other teams do not exist. */
export async function ofTeam<C extends 'mail' | 'checkpoints' | 'spawns'>(
  context: Context,
  collection: C,
  ref: string,
) {
  const { fleet } = context
  const own = await onlyTeamOf(context)
  const { value } = await lookUp(fleet, collection, ref, own && (({ team_id }) => team_id === own.id))
  return { value, team: own ?? (await current(fleet, 'teams', value.team_id)).value }
}

/** The team that a token was given for, as long as there is one. */
async function teamOfToken({ fleet, caller }: Context): Promise<Team | undefined> {
  if (!isPrincipal(caller) || caller.team === undefined) return undefined
  const { value } = await current(fleet, 'teams', caller.team)
  if (value.ended_at) throw new Forbidden(`Your token is for the team ${value.name}, which was deleted.`)
  return value
}

/** The member whose session asks. Undefined: a person, a service or a plugin asks. */
async function ownMember({ fleet, caller }: Context): Promise<Member | undefined> {
  if (caller.kind !== 'session') return undefined
  // A session of a task that has gone to somebody else speaks for the member that it is a session of.
  const member_id = (await fleet.store.get('sessions', caller.session_id))?.value.member_id
  if (!member_id) throw new Forbidden('Your mission belongs to no team.', { try: 'Use the tools of your mission.' })
  const { value } = await current(fleet, 'members', member_id)
  if (value.dismissed_at) throw new Forbidden(`${value.handle} was dismissed.`, { try: 'End your turn.' })
  return value
}

/** Who asks, as a member of the team. A person who was not in it becomes one. */
export async function memberIn(context: Context, team: Team): Promise<Member> {
  const own = await ownMember(context)
  if (own) return own
  return personIn(context.fleet, team, { actor: actorOf(context), name: nameOf(context), role: roleIn(context, team) })
}

/** The same for reading: nobody becomes a member by looking. */
export const knownIn = async (context: Context, team: Team): Promise<Member | undefined> =>
  (await ownMember(context)) ?? findPerson(context.fleet, team, actorOf(context))

function nameOf({ caller }: Context): string {
  if (isPrincipal(caller)) return caller.name
  return caller.kind === 'owner' && caller.plugin ? caller.plugin : 'operator'
}

function roleIn({ caller }: Context, { id, project_id }: Team): MemberRole {
  if (!isPrincipal(caller)) return 'team-lead'
  const may = (permission: Permission) => holdsOneOf(caller.grants, [permission], project_id, id)
  if (may('teams.manage')) return 'team-lead'
  return may('mail.broadcast') ? 'coordinator' : 'worker'
}

const MAY_BROADCAST: readonly MemberRole[] = ['team-lead', 'coordinator']

/** Writing to many wakes many, so that is for those who steer a team. For people it is a permission. */
export function requireBroadcaster({ person, role, handle }: Member, to: readonly string[]): void {
  if (person !== null || MAY_BROADCAST.includes(role) || !to.some(isGroup)) return
  throw new Forbidden(`${handle} is a ${role}, and may not write to a whole group.`, {
    try: 'Write to members by name.',
  })
}

/** Whether an agent leads a team or coordinates it. */
export const leads = ({ role }: Member): boolean => MAY_BROADCAST.includes(role)

/** Whether somebody steers a team: a lead or coordinator among its agents, or a person who may write to all of it. */
export const steers = ({ caller }: Context, { person, role, project_id, team_id }: Member): boolean =>
  person === null ? MAY_BROADCAST.includes(role) : mayIn(caller, 'mail.broadcast', project_id, team_id)

/** For what changes who is in a team: of its agents, only a lead may. For people it is a permission. */
export async function requireLead(context: Context): Promise<void> {
  const own = await ownMember(context)
  if (!own || own.role === 'team-lead') return
  throw new Forbidden(`${own.handle} is a ${own.role} and does not lead the team.`, { try: 'Write to @team-lead.' })
}

export const addressesGroup = (to: readonly string[]): boolean => to.some(isGroup)

/** The mission of a member, which waits for its mail. A person has none. */
export async function missionOf(fleet: Fleet, { mission_id }: Member) {
  return mission_id ? (await fleet.store.get('missions', mission_id))?.value : undefined
}
