/** Those who want to hear of commits. Several commits in one turn give one hint. */
export class Hints {
  #listeners = new Set<() => void>()
  #pending = false

  get size(): number {
    return this.#listeners.size
  }

  add(hint: () => void): () => void {
    // A new wrapper each time, so that the same function can be added twice and removed once.
    const listener = () => hint()
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  clear(): void {
    this.#listeners.clear()
  }

  give(): void {
    if (this.#pending || !this.#listeners.size) return
    this.#pending = true
    queueMicrotask(() => {
      this.#pending = false
      for (const listener of this.#listeners) listener()
    })
  }
}
