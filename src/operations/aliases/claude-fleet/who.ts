import { Forbidden, NotFound } from '../../../domain/errors.ts'
import type { MemberRole } from '../../../domain/records/team.ts'
import { actorNamed } from '../../inputs.ts'
import type { Caller } from '../../operation.ts'
import type { Asker } from './route.ts'

/** A member as our operations tell it. */
export interface Member {
  id: string
  handle: string
  role: MemberRole
  person: string | null
  state: string
  session_id: string | null
  mission_id: string | null
  swarm_id: string | null
  health: { state: string }
  created_at: string
  updated_at: string
}

export interface Team {
  id: string
  project_id: string
  name: string
  max_members: number
  members: Member[]
}

/** What their clients call a member. For whoever has a token of their own it is what `POST /auth` answered. */
export const uidOf = ({ id, person }: Pick<Member, 'id' | 'person'>): string =>
  /^(?:person|service):(.+)$/.exec(person ?? '')?.[1] ?? id

/** The team with this name; without one, that of the token or the only one. */
export async function teamFor({ ask, caller }: Asker, name?: string): Promise<Team> {
  const isOwn = (team: Team): boolean =>
    name === undefined || [team.id, team.name.toLowerCase()].includes(name.toLowerCase())
  const own = caller.kind === 'session' || name === undefined ? await ask<Team>('team_status', {}) : undefined
  if (own && isOwn(own)) return own
  if (own) throw new Forbidden(`You are in the team ${own.name}, and in no other.`)
  return ask<Team>('get_team', { team_id: name })
}

const teamOfToken = (caller: Caller): string | undefined => ('team' in caller ? caller.team : undefined)

/** Every team that somebody may look at: their own, or all they see. */
export async function teamsFor(asker: Asker): Promise<Team[]> {
  if (asker.caller.kind === 'session' || teamOfToken(asker.caller)) return [await teamFor(asker)]
  const { teams } = await asker.ask<{ teams: { id: string }[] }>('list_teams', {})
  return Promise.all(teams.map(({ id }) => asker.ask<Team>('get_team', { team_id: id })))
}

/** The caller as a member. Undefined: they have not been in this team yet. */
export function ownIn(caller: Caller, { members }: Team): Member | undefined {
  if (caller.kind === 'session')
    return members.find(each => each.session_id === caller.session_id || each.mission_id === caller.mission_id)
  return members.find(({ person }) => person === actorNamed(caller))
}

/** The name under which the caller writes in a team. */
export function ownHandle(caller: Caller, team: Team): string {
  const own = ownIn(caller, team)
  if (own) return own.handle
  return 'name' in caller ? caller.name : 'operator'
}

/** Whoever a request says it is from must be who asks. `ref` is a uid or a handle. */
export function requireSelf(caller: Caller, team: Team, field: string, ref: string): void {
  const own = ownIn(caller, team)
  const names = [own && uidOf(own), 'id' in caller ? caller.id : undefined, ownHandle(caller, team).toLowerCase()]
  if (names.includes(ref) || names.includes(ref.toLowerCase())) return
  throw new Forbidden(`${field} is ${ref}, but you are ${ownHandle(caller, team)}.`, {
    try: 'Say who you are, or ask with the token of that member.',
  })
}

/** A member by uid, in any team that the caller may look at. */
export async function userFor(asker: Asker, uid: string): Promise<{ team: Team; member: Member }> {
  for (const team of await teamsFor(asker)) {
    const member = team.members.find(each => uidOf(each) === uid)
    if (member) return { team, member }
  }
  throw new NotFound('user', uid, { try: 'GET /teams/<team>/agents lists those of a team.' })
}

/** A member by handle, in the given team or any that the caller may look at. */
export async function workerFor(asker: Asker, handle: string): Promise<{ team: Team; member: Member }> {
  for (const team of await teamsFor(asker)) {
    const member = team.members.find(each => each.handle.toLowerCase() === handle.toLowerCase())
    if (member) return { team, member }
  }
  throw new NotFound('worker', handle, { try: 'GET /orchestrate/workers lists all.' })
}
