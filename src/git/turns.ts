/** Runs one at a time per key, in the order of the calls. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>()

  isTaken(key: string): boolean {
    return this.#last.has(key)
  }

  async take<T>(key: string, run: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve()
    const mine = before.then(run, run)
    const over = mine.catch(() => {})
    this.#last.set(key, over)
    try {
      return await mine
    } finally {
      if (this.#last.get(key) === over) this.#last.delete(key)
    }
  }
}

/** Runs at most this many at a time. */
export class Bound {
  readonly #most: number
  readonly #waiting: (() => void)[] = []
  #running = 0
  #endedAt = Number.NEGATIVE_INFINITY

  constructor(most: number) {
    this.#most = most
  }

  /** How long nothing has run. */
  get quietMs(): number {
    return this.#running > 0 ? 0 : performance.now() - this.#endedAt
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running === this.#most) await new Promise<void>(resolve => this.#waiting.push(resolve))
    else this.#running++
    try {
      return await task()
    } finally {
      this.#endedAt = performance.now()
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running--
    }
  }
}
