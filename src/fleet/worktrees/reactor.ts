import type { Event } from '../../domain/records/event.ts'
import type { Fleet } from '../fleet.ts'
import { type Desk, idIn, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all } from '../records.ts'
import { tidy } from './tidying.ts'

/** Events after which a worktree may belong to nobody. */
const MOVED: readonly Event['kind'][] = ['landed', 'session_starting', 'process_ended']

/** Removes worktrees that are no longer needed, and those that a new branch has replaced. */
export class Worktrees implements Reactor {
  readonly name = 'worktrees'
  readonly isPatient = true
  readonly #fleet: Fleet
  readonly #desk: Desk

  constructor(fleet: Fleet, desk: Desk) {
    this.#fleet = fleet
    this.#desk = desk
  }

  async *unfinished(): AsyncGenerator<Ref> {
    for await (const { value } of all(this.#fleet, 'sessions', 'worktree')) yield refTo('missions', value.mission_id)
  }

  affectedBy({ kind, mission_id, data }: Event): Ref[] {
    return mission_id && (data.status === 'done' || MOVED.includes(kind)) ? [refTo('missions', mission_id)] : []
  }

  async look(ref: Ref): Promise<void> {
    this.#desk.goOn(ref, tidy(this.#fleet, idIn(ref)))
  }
}
