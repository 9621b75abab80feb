/**
 * The most that one look adds. A machine that slept, or a server that stood still, was not watching, so its member was
 * not quiet in that time.
 */
const MOST_PER_LOOK_MS = 10_000

/** Measures how long a member at work shows no sign of life, by a clock that only goes forward. */
export class QuietTime {
  #at: number | undefined
  #quietMs = 0
  #watchedMs = 0
  #longestMs = 0
  #isTold = false

  /** How long it has been quiet since its last sign of life, or since that was told. */
  get quietMs(): number {
    return this.#quietMs
  }

  /** The longest pause from which it came back by itself. */
  get longestMs(): number {
    return this.#longestMs
  }

  /** How long it was watched since the start, or since its silence was told. */
  get watchedMs(): number {
    return this.#watchedMs
  }

  look(at: number, isAlive: boolean): void {
    const passed = this.#at === undefined ? 0 : Math.min(Math.max(0, at - this.#at), MOST_PER_LOOK_MS)
    this.#at = at
    this.#watchedMs += passed
    if (!isAlive) {
      this.#quietMs += passed
      return
    }
    if (!this.#isTold) this.#longestMs = Math.max(this.#longestMs, this.#quietMs)
    this.#quietMs = 0
    this.#isTold = false
  }

  /** It waits for a person, or for its next try. */
  forgive(): void {
    this.#quietMs = 0
  }

  /** Its silence was written down. What follows is counted anew. */
  told(): void {
    this.#quietMs = 0
    this.#watchedMs = 0
    this.#isTold = true
  }
}
