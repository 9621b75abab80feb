import { InvalidInput, NotAllowed, NotFound } from '../../domain/errors.ts'
import { Swarm } from '../../domain/records/swarm.ts'
import type { Team } from '../../domain/records/team.ts'
import type { Stored } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { all, current, derivedId, put } from '../records.ts'
import { aboutTeam, requireTeam } from '../teams/teams.ts'

export type NewSwarm = Pick<Swarm, 'name' | 'description' | 'max_agents'>

const called = (fleet: Fleet, team: Pick<Team, 'id'>, name: string): Promise<Stored<Swarm>[]> =>
  Array.fromAsync(all(fleet, 'swarms', 'name', [team.id, name.toLowerCase()]))

export const swarmsOf = async (fleet: Fleet, { id }: Pick<Team, 'id'>): Promise<Swarm[]> =>
  (await Array.fromAsync(all(fleet, 'swarms', 'team', [id]))).map(({ value }) => value)

/** The swarm of a team with this name or id. A name means the newest that had it. */
export async function lookUpSwarm(fleet: Fleet, team: Team, ref: string): Promise<Stored<Swarm>> {
  const named = (await called(fleet, team, ref)).at(-1)
  const id =
    named?.value.id ?? (await swarmsOf(fleet, team)).find(each => ref.length >= 4 && each.id.startsWith(ref))?.id
  if (id) return current(fleet, 'swarms', id)
  const names = (await swarmsOf(fleet, team)).filter(({ state }) => state === 'active').map(({ name }) => name)
  throw new NotFound('swarm', ref, {
    try: names.length
      ? `The team ${team.name} has ${names.join(', ')}.`
      : `fleet swarm create <name> --team ${team.name}`,
  })
}

export async function createSwarm(fleet: Fleet, ask: Ask, teamId: string, wanted: NewSwarm): Promise<Stored<Swarm>> {
  const id = await oncePerKey(fleet, ask, async () => {
    const { value: team, version } = await current(fleet, 'teams', teamId)
    requireTeam(team)
    const earlier = await called(fleet, team, wanted.name)
    if (earlier.some(({ value }) => value.state !== 'ended'))
      throw new InvalidInput('name', `is taken: ${team.name} has a swarm called ${wanted.name}`)
    const when = by(fleet, ask)
    // Two who make the same name at once make the same id, so only one of them can.
    const id = derivedId('swarm', teamId, wanted.name.toLowerCase(), String(earlier.length))
    const times = { created_at: when.now, updated_at: when.now }
    const swarm = Swarm.parse({ ...wanted, id, team_id: teamId, project_id: team.project_id, ...times })
    return {
      subject: id,
      changes: [put('swarms', swarm, 'absent')],
      checks: [{ collection: 'teams', id: teamId, expects: version }],
      events: [aboutTeam(team, 'swarm_created', when, { swarm: id, name: swarm.name })],
    }
  })
  return current(fleet, 'swarms', id)
}

/** Nobody joins it any more. The swarms reactor dismisses its members. */
export async function killSwarm(fleet: Fleet, ask: Ask, id: string): Promise<Stored<Swarm>> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'swarms', id)
    if (value.state !== 'active') return { subject: id, changes: [] }
    const when = by(fleet, ask)
    const next: Swarm = { ...value, state: 'ending', killed_by: when.actor, updated_at: when.now }
    const team = { id: value.team_id, project_id: value.project_id }
    return {
      subject: id,
      changes: [put('swarms', next, version)],
      events: [aboutTeam(team, 'swarm_killed', when, { swarm: id, name: value.name })],
    }
  })
  return current(fleet, 'swarms', id)
}

/** Refuses a member for which its swarm has no room. The version makes sure that nobody kills it meanwhile. */
export async function roomIn(fleet: Fleet, team: Team, id: string): Promise<Stored<Swarm>> {
  const swarm = await current(fleet, 'swarms', id)
  const { name, state, max_agents, team_id } = swarm.value
  if (team_id !== team.id) throw new NotFound('swarm', id)
  if (state !== 'active') throw new NotAllowed(`The swarm ${name} was killed.`, { try: 'Name another swarm, or none.' })
  if (seatsIn(team, id) >= max_agents)
    throw new NotAllowed(`The swarm ${name} is full: it may have ${max_agents} agents.`, {
      try: 'Dismiss one of them, or use another swarm.',
      facts: { max_agents },
    })
  return swarm
}

export const seatsIn = ({ roster }: Pick<Team, 'roster'>, swarmId: string): number =>
  roster.filter(({ swarm_id }) => swarm_id === swarmId).length
