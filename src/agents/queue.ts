/** Passes items on as they are added, until it is ended. */
export class Queue<T> implements AsyncIterable<T> {
  readonly #waiting: T[] = []
  #more = Promise.withResolvers<void>()
  #ended = false

  add(item: T): void {
    this.#waiting.push(item)
    this.#more.resolve()
  }

  end(): void {
    this.#ended = true
    this.#more.resolve()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      yield* this.#waiting.splice(0)
      if (this.#ended && this.#waiting.length === 0) return
      await this.#more.promise
      if (!this.#ended) this.#more = Promise.withResolvers<void>()
    }
  }
}
