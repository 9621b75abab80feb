import type { Fleet } from '../fleet.ts'
import type { Reactor, Ref } from '../reactor.ts'
import { all } from '../records.ts'
import { diskLimitOf } from './limits.ts'
import { lastUse, measureDisk } from './use.ts'

const EVERY_MS = 30_000
/** Where missions wait for the figures. */
const EVERY_WITH_A_LIMIT_MS = 2000
/** Measuring takes at most a twentieth of the time. */
const PAUSE_PER_MS = 19

/** Measures the home in the background while something happens in it, so that figures are there when somebody asks. */
export class Measuring implements Reactor {
  readonly name = 'disk'
  readonly isPatient = true
  readonly #fleet: Fleet
  readonly #measured: () => void
  #isStale = true
  #measuredAt = performance.now()
  #took = 0
  #measuring: Promise<void> | null = null
  #failure: unknown

  /** `measured` is called after each time if some project has a limit. */
  constructor(fleet: Fleet, measured: () => void) {
    this.#fleet = fleet
    this.#measured = measured
  }

  async *unfinished(): AsyncGenerator<Ref> {}

  affectedBy(): Ref[] {
    this.#isStale = true
    return []
  }

  async look(): Promise<void> {}

  async tick(): Promise<void> {
    if (this.#failure) {
      const failure = this.#failure
      this.#failure = undefined
      throw failure
    }
    if (this.#measuring || !this.#isStale) return
    const hasLimit = await this.#hasLimit()
    const isFirst = hasLimit && !lastUse(this.#fleet)
    const pause = Math.max(hasLimit ? EVERY_WITH_A_LIMIT_MS : EVERY_MS, this.#took * PAUSE_PER_MS)
    if (!isFirst && performance.now() - this.#measuredAt < pause) return
    // Not waited for: a server that stops does not wait for a large disk.
    this.#measuring = this.#measure()
      .then(hasLimit ? this.#measured : undefined)
      .catch(error => {
        this.#failure = error
      })
      .finally(() => {
        this.#measuring = null
      })
  }

  async #measure(): Promise<void> {
    // Agents that are at work write files without an event.
    this.#isStale = (await this.#fleet.store.find('sessions', { index: 'live', limit: 1 })).items.length > 0
    const began = performance.now()
    await measureDisk(this.#fleet)
    this.#measuredAt = performance.now()
    this.#took = this.#measuredAt - began
  }

  async #hasLimit(): Promise<boolean> {
    if (this.#fleet.settings.diskLimitGb !== null) return true
    for await (const { value } of all(this.#fleet, 'projects', 'created'))
      if (diskLimitOf(this.#fleet, value) !== null) return true
    return false
  }
}
