/** Decides whether a session is stuck, from how long it has shown no sign of life and what else is known. */
export class Stall {
  /** Silence before this does not count. */
  #forgiven = -Infinity
  #isTold = false

  /** Whether it is stuck, and that was not reported since its last sign of life. */
  isNew(idleMs: number, { afterMs, isWaiting }: { afterMs: number; isWaiting: boolean }): boolean {
    const isIdle = Math.min(idleMs, performance.now() - this.#forgiven) >= afterMs
    if (isWaiting) this.forgive()
    else if (!isIdle) this.#isTold = false
    return isIdle && !isWaiting && !this.#isTold
  }

  /** It waits for a person, or for its next try. */
  forgive(): void {
    this.#forgiven = performance.now()
  }

  told(): void {
    this.#isTold = true
  }
}
