import { NotAllowed } from '../errors.ts'
import { isOpen, type Spawn } from '../records/spawn.ts'
import type { Swarm } from '../records/swarm.ts'
import { PRIORITIES, type Team } from '../records/team.ts'

/** More open requests of one member would say nothing more. */
export const MOST_REQUESTS = 10

const rank = ({ priority }: Spawn): number => PRIORITIES.indexOf(priority)

/** The most urgent first, and among those the oldest. */
export const inOrder = (spawns: readonly Spawn[]): Spawn[] =>
  spawns.toSorted((one, other) => rank(other) - rank(one) || one.order - other.order)

/** What is known of a request that another one waits for. */
export type Progress = 'open' | 'working' | 'done' | 'never'

export interface Room {
  team: Pick<Team, 'name' | 'roster' | 'max_members' | 'paused' | 'ended_at'>
  swarms: readonly Swarm[]
  progress: (spawnId: string) => Progress
}

export type Move = { spawn: Spawn } & (
  | { kind: 'add' }
  | { kind: 'wait'; text: string }
  | { kind: 'end'; state: 'refused' | 'cancelled'; reason: string }
)

/**
 * What becomes of the open requests of a team. Whatever finds no room waits in order: nobody behind it gets the place
 * it waits for.
 */
export function movesOf(open: readonly Spawn[], { team, swarms, progress }: Room): Move[] {
  const agents = team.roster.filter(({ is_agent }) => is_agent)
  let free = team.max_members - agents.length
  const freeIn = new Map(
    swarms.map(({ id, max_agents }) => [id, max_agents - agents.filter(({ swarm_id }) => swarm_id === id).length]),
  )
  return inOrder(open).map((spawn): Move => {
    const wait = (text: string): Move => ({ spawn, kind: 'wait', text })
    const end = (state: 'refused' | 'cancelled', reason: string): Move => ({ spawn, kind: 'end', state, reason })
    if (team.ended_at) return end('cancelled', 'The team was deleted.')
    const isThere = team.roster.some(({ member_id }) => member_id === spawn.from.member_id)
    if (!isThere && spawn.state === 'requested') return end('cancelled', `${spawn.from.handle} was dismissed.`)
    const swarm = spawn.swarm_id ? swarms.find(({ id }) => id === spawn.swarm_id) : null
    if (swarm === undefined || (swarm && swarm.state !== 'active'))
      return end('refused', `The swarm ${swarm?.name ?? ''} was killed.`)
    if (spawn.state === 'requested') return wait('a lead or a person who grants it')
    const before = spawn.depends_on.map(id => ({ id, is: progress(id) }))
    const never = before.find(({ is }) => is === 'never')
    if (never) return end('refused', `Nobody comes for the request ${never.id}, which it depends on.`)
    const first = before.find(({ is }) => is !== 'done')
    if (first)
      return wait(`the member of the request ${first.id} to ${first.is === 'open' ? 'be added' : 'finish its task'}`)
    if (team.paused) return wait(`the team ${team.name}, which is paused`)
    if (swarm && freeIn.get(swarm.id)! <= 0) return wait(placeIn('swarm', swarm.name, swarm.max_agents))
    if (free <= 0) return wait(placeIn('team', team.name, team.max_members))
    free--
    if (swarm) freeIn.set(swarm.id, freeIn.get(swarm.id)! - 1)
    return { spawn, kind: 'add' }
  })
}

const placeIn = (what: string, name: string, most: number): string =>
  `a free place: the ${what} ${name} has its ${most} ${most === 1 ? 'agent' : 'agents'}`

export type Decision = 'waiting' | 'refused' | 'cancelled'

/** Somebody grants, refuses or cancels a request. The first decision counts, but what waits can still be cancelled. */
export function decided(
  spawn: Spawn,
  state: Decision,
  { by, reason, now }: { by: string; reason: string | null; now: string },
): Spawn {
  const fits = state === 'waiting' ? spawn.state === 'requested' : isOpen(spawn)
  if (!fits)
    throw new NotAllowed(`This request is ${spawn.state === 'waiting' ? 'granted' : spawn.state} already.`, {
      facts: { state: spawn.state },
    })
  return {
    ...spawn,
    state,
    reason,
    decided_by: by,
    waits_for: state === 'waiting' ? spawn.waits_for : null,
    updated_at: now,
  }
}
