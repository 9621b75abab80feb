const SHORTEST_PAUSE_MS = 5000
const LONGEST_PAUSE_MS = 60_000
/** Nothing was asked for so long that whatever is asked now is about another fault. */
const FORGET_AFTER_MS = 2 * LONGEST_PAUSE_MS

/**
 * After a fault, such as a full disk, everything is looked at again, until that succeeds: nothing must be left to
 * nobody. Asked for many times, it is one look; while faults go on, the pauses before it grow.
 */
export class SecondLook {
  readonly #look: () => Promise<void>
  #timer: NodeJS.Timeout | undefined
  #pause = SHORTEST_PAUSE_MS
  #last = Number.NEGATIVE_INFINITY
  #over = false

  constructor(look: () => Promise<void>) {
    this.#look = look
  }

  ask(): void {
    if (this.#timer || this.#over) return
    this.#pause =
      performance.now() - this.#last > FORGET_AFTER_MS ? SHORTEST_PAUSE_MS : Math.min(this.#pause * 2, LONGEST_PAUSE_MS)
    this.#timer = setTimeout(() => this.#now(), this.#pause).unref()
  }

  stop(): void {
    this.#over = true
    clearTimeout(this.#timer)
  }

  #now(): void {
    this.#timer = undefined
    this.#last = performance.now()
    this.#look().catch(() => this.ask())
  }
}
