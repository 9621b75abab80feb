import type { KeptProcess } from '../../domain/records/side-process.ts'
import type { Seen } from '../../runner/processes.ts'
import type { Fleet } from '../fleet.ts'
import { all } from '../records.ts'
import { KeptRun } from './side-run.ts'

/** All programs that are kept running, for whoever holds the home. */
export class Keepers {
  readonly #fleet: Fleet
  readonly #runs = new Map<string, KeptRun>()
  readonly #inBackground: (what: string, work: Promise<unknown>) => void
  readonly #isOver: (missionId: string) => void

  constructor(
    fleet: Fleet,
    inBackground: (what: string, work: Promise<unknown>) => void,
    isOver: (missionId: string) => void,
  ) {
    this.#fleet = fleet
    this.#inBackground = inBackground
    this.#isOver = isOver
  }

  get size(): number {
    return this.#runs.size
  }

  /** Takes up what nobody looks after, and ends what is to end. */
  async look(): Promise<void> {
    for await (const { value } of all(this.#fleet, 'processes', 'live')) {
      const run = this.#runs.get(value.id)
      if (!run) this.#begin(value)
      else if (value.stopping) this.#inBackground(`ending ${value.id}`, run.stop(value.stopping))
    }
  }

  #begin(kept: KeptProcess): void {
    const run = new KeptRun(this.#fleet, kept)
    this.#runs.set(kept.id, run)
    const over = run.run().finally(() => {
      this.#runs.delete(kept.id)
      this.#isOver(kept.mission_id)
    })
    this.#inBackground(`${kept.kind} of mission ${kept.mission_id}`, over)
  }

  /** An agent goes to work in the same files. */
  endRemote(missionId: string): void {
    for (const run of this.#runs.values())
      if (run.missionId === missionId && run.kind === 'remote')
        this.#inBackground(`remote control of ${missionId}`, run.stop('Its agent went back to work.'))
  }

  notice(seen: readonly Seen[]): void {
    for (const run of this.#runs.values()) this.#inBackground(`${run.kind} of ${run.missionId}`, run.notice(seen))
  }

  release(): void {
    for (const run of this.#runs.values()) run.release()
  }
}
