import type { Event } from '../../domain/records/event.ts'
import type { Fleet } from '../fleet.ts'
import { idIn, isOf, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all } from '../records.ts'
import { stageMoved, takeUpWorkflow } from './engine.ts'
import { cancelStages, TO_STOP } from './workflows.ts'

/** The requests of people about a workflow. */
const WISHES: readonly Event['kind'][] = [
  'workflow_created',
  'workflow_changed',
  'workflow_cancelled',
  'workflow_retried',
]

/** Moves workflows from stage to stage. */
export class Workflows implements Reactor {
  readonly name = 'workflows'
  readonly #fleet: Fleet

  constructor(fleet: Fleet) {
    this.#fleet = fleet
  }

  async *unfinished(): AsyncGenerator<Ref> {
    for await (const { value } of all(this.#fleet, 'workflows', 'active')) yield refTo('workflows', value.id)
    // Workflows that were cancelled while no server ran still have stages to stop.
    for (const status of TO_STOP)
      for await (const { value } of all(this.#fleet, 'missions', 'status', [status]))
        if (value.workflow) yield refTo('workflows', value.workflow.id)
  }

  affectedBy({ kind, mission_id, data }: Event): Ref[] {
    return [
      ...(typeof data.workflow === 'string' && WISHES.includes(kind) ? [refTo('workflows', data.workflow)] : []),
      ...(mission_id && typeof data.status === 'string' ? [refTo('missions', mission_id)] : []),
    ]
  }

  async look(ref: Ref): Promise<void> {
    if (isOf(ref, 'missions')) return stageMoved(this.#fleet, idIn(ref))
    const workflow = (await this.#fleet.store.get('workflows', idIn(ref)))?.value
    if (workflow?.status === 'cancelled') await cancelStages(this.#fleet, workflow.id)
    else if (workflow) await takeUpWorkflow(this.#fleet, workflow.id)
  }
}
