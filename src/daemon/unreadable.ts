import type { Fleet } from '../fleet/fleet.ts'
import { type Desk, idIn, type Reactor, type Ref } from '../fleet/reactor.ts'
import type { Collection } from '../store/index.ts'

/** Records that cannot be read. Each is a fault until it can be read or is gone. */
export class Unreadable implements Reactor {
  readonly name = 'store'
  readonly #fleet: Fleet
  readonly #desk: Desk

  constructor(fleet: Fleet, desk: Desk) {
    this.#fleet = fleet
    this.#desk = desk
  }

  async *unfinished(): AsyncGenerator<Ref> {}

  affectedBy(): Ref[] {
    return []
  }

  async look(ref: Ref): Promise<void> {
    await this.#fleet.store.get(ref.slice(0, ref.indexOf('/')) as Collection, idIn(ref))
  }

  /** The store notices them when somebody reads them, which no commit announces. */
  async tick(): Promise<void> {
    for (const name of this.#fleet.store.unreadable) await this.#desk.attempt(name as Ref, () => this.look(name as Ref))
  }
}
