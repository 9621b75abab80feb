/** Those who asked to be told of commits. Several commits in one turn are one hint. */
export class Hints {
  #listeners = new Set<() => void>()
  #pending = false

  get size(): number {
    return this.#listeners.size
  }

  add(hint: () => void): () => void {
    // A wrapper of its own, so that the same function may be given twice and stopped once.
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
