import type { Event } from '../../domain/records/event.ts'
import type { Fleet } from '../fleet.ts'
import { idIn, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all } from '../records.ts'
import { settleSpawns } from './spawns.ts'

/** Events after which a request may find room, or what it waits for may have come. */
const OF_TEAMS: readonly Event['kind'][] = [
  ...(['spawn_requested', 'spawn_decided', 'spawn_ended', 'member_dismissed', 'team_changed'] as const),
  ...(['team_deleted', 'swarm_killed', 'swarm_ended'] as const),
]

/** Adds the members that were asked for, in order, as there is room. */
export class Spawns implements Reactor {
  readonly name = 'spawns'
  readonly #fleet: Fleet

  constructor(fleet: Fleet) {
    this.#fleet = fleet
  }

  async *unfinished(): AsyncGenerator<Ref> {
    const seen = new Set<string>()
    for await (const { value } of all(this.#fleet, 'spawns', 'open')) {
      if (!seen.has(value.team_id)) yield refTo('teams', value.team_id)
      seen.add(value.team_id)
    }
  }

  async affectedBy({ kind, mission_id, data }: Event): Promise<Ref[]> {
    if (OF_TEAMS.includes(kind)) return [refTo('teams', data.team as string)]
    // A member became idle: a request may have waited for it.
    const isIdle = kind === 'parked' && mission_id !== null
    const member = isIdle ? (await this.#fleet.store.get('missions', mission_id))?.value.member : undefined
    return member ? [refTo('teams', member.team_id)] : []
  }

  look(ref: Ref): Promise<void> {
    return settleSpawns(this.#fleet, idIn(ref))
  }
}
