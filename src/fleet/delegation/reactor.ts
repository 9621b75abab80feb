import type { Event } from '../../domain/records/event.ts'
import type { Status } from '../../domain/records/mission.ts'
import { isOver, needsSomebody } from '../../domain/rules/delegation.ts'
import type { Fleet } from '../fleet.ts'
import { idIn, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all } from '../records.ts'
import { goOnAfterChildren } from './delegation.ts'

const isNewsForParent = (status: unknown): boolean =>
  typeof status === 'string' && [isOver, needsSomebody].some(is => is({ status: status as Status }))

/** Lets missions go on that wait for their sub-missions. */
export class Delegation implements Reactor {
  readonly name = 'delegation'
  readonly #fleet: Fleet

  constructor(fleet: Fleet) {
    this.#fleet = fleet
  }

  async *unfinished(): AsyncGenerator<Ref> {
    for await (const { value } of all(this.#fleet, 'missions', 'status', ['waiting'])) yield refTo('missions', value.id)
  }

  async affectedBy({ kind, mission_id, data }: Event): Promise<Ref[]> {
    if (kind === 'mission_deleted') return data.parent ? [refTo('missions', String(data.parent))] : []
    if (!mission_id) return []
    if (data.status === 'waiting') return [refTo('missions', mission_id)]
    const child = isNewsForParent(data.status) ? await this.#fleet.store.get('missions', mission_id) : undefined
    const parent = child?.value.parent_mission_id
    return parent ? [refTo('missions', parent)] : []
  }

  look(ref: Ref): Promise<void> {
    return goOnAfterChildren(this.#fleet, idIn(ref))
  }
}
