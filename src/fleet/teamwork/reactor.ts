import type { Event } from '../../domain/records/event.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { idIn, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all, current, put } from '../records.ts'
import { dismissMember } from '../teams/members.ts'
import { aboutTeam } from '../teams/teams.ts'

/** Dismisses the members of swarms that were killed. */
export class Swarms implements Reactor {
  readonly name = 'swarms'
  readonly #fleet: Fleet

  constructor(fleet: Fleet) {
    this.#fleet = fleet
  }

  async *unfinished(): AsyncGenerator<Ref> {
    for await (const { value } of all(this.#fleet, 'swarms', 'ending')) yield refTo('swarms', value.id)
  }

  affectedBy({ kind, data }: Event): Ref[] {
    return kind === 'swarm_killed' ? [refTo('swarms', data.swarm as string)] : []
  }

  async look(ref: Ref): Promise<void> {
    const swarm = (await this.#fleet.store.get('swarms', idIn(ref)))?.value
    if (swarm?.state !== 'ending') return
    const { value: team } = await current(this.#fleet, 'teams', swarm.team_id)
    const ask = { operation: 'swarm_kill', actor: swarm.killed_by ?? 'fleet' }
    for (const { swarm_id, member_id } of team.roster)
      if (swarm_id === swarm.id) await dismissMember(this.#fleet, ask, member_id, `The swarm ${swarm.name} was killed.`)
    await retryOnConflict(async () => {
      const { value, version } = await current(this.#fleet, 'swarms', swarm.id)
      if (value.state !== 'ending') return
      const now = this.#fleet.now()
      await this.#fleet.commit('commit.swarm-ended', {
        changes: [put('swarms', { ...value, state: 'ended', ended_at: now, updated_at: now }, version)],
        events: [aboutTeam(team, 'swarm_ended', { actor: 'fleet', now }, { swarm: value.id, name: value.name })],
      })
    })
  }
}
