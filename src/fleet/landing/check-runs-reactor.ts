import type { Event } from '../../domain/records/event.ts'
import type { Turns } from '../../git/turns.ts'
import type { Fleet } from '../fleet.ts'
import { type Desk, idIn, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all } from '../records.ts'
import { carryOutChecks } from './check-runs.ts'

const ASKED: readonly Event['kind'][] = ['checks_requested', 'checks_stop_requested']

/** Runs the checks that somebody asked for, in turn with the landings of the project. */
export class CheckRuns implements Reactor {
  readonly name = 'check-runs'
  readonly #fleet: Fleet
  readonly #desk: Desk
  /** By project. */
  readonly #turns: Turns
  readonly #now = new Map<string, AbortController>()

  constructor(fleet: Fleet, desk: Desk, turns: Turns) {
    this.#fleet = fleet
    this.#desk = desk
    this.#turns = turns
  }

  async *unfinished(): AsyncGenerator<Ref> {
    for await (const { value } of all(this.#fleet, 'check_runs', 'live')) yield refTo('check_runs', value.id)
  }

  affectedBy({ kind, data }: Event): Ref[] {
    return ASKED.includes(kind) ? [refTo('check_runs', String(data.check_run))] : []
  }

  async look(ref: Ref): Promise<void> {
    const run = (await this.#fleet.store.get('check_runs', idIn(ref)))?.value
    if (!run || run.status === 'ended') return
    const stop = this.#now.get(run.id)
    if (!stop) this.#begin(ref, run.project_id)
    else if (run.stopping) stop.abort()
  }

  #begin(ref: Ref, projectId: string): void {
    const id = idIn(ref)
    // Only a person ends it. When the server stops, the checks go on and the next server follows them.
    const stop = new AbortController()
    this.#now.set(id, stop)
    const turn = this.#turns.take(projectId, async () => {
      if (!this.#desk.signal.aborted) await carryOutChecks(this.#fleet, id, stop.signal)
    })
    this.#desk.goOn(
      ref,
      turn.finally(() => {
        this.#now.delete(id)
        // The next run may have been requested between the end of this one and now.
        this.#desk.lookIn(0, ref)
      }),
    )
  }
}
