import type { Event } from '../../domain/records/event.ts'
import type { Fleet } from '../fleet.ts'
import { idIn, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all } from '../records.ts'
import { heedPlan } from './plans.ts'

/** Ends plans whose planner ended, and approves those that need no person. */
export class Planning implements Reactor {
  readonly name = 'planning'
  readonly #fleet: Fleet

  constructor(fleet: Fleet) {
    this.#fleet = fleet
  }

  async *unfinished(): AsyncGenerator<Ref> {
    for await (const { value } of all(this.#fleet, 'plans', 'open')) yield refTo('plans', value.id)
  }

  async affectedBy({ kind, mission_id, data }: Event): Promise<Ref[]> {
    const plan = kind === 'plan_proposed' ? data.plan : kind === 'mission_deleted' ? data.planning : undefined
    if (plan) return [refTo('plans', String(plan))]
    if (!mission_id || (data.status !== 'failed' && data.status !== 'cancelled')) return []
    const planning = (await this.#fleet.store.get('missions', mission_id))?.value.planning
    return planning ? [refTo('plans', planning)] : []
  }

  look(ref: Ref): Promise<void> {
    return heedPlan(this.#fleet, idIn(ref))
  }
}
