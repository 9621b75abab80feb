import type { Page, Stored } from '../port.ts'

/** The records and lists of a few missions at work. One mission reads the same records some fifty times. */
const MOST_BYTES = 1024 * 1024
const MOST_LISTS = 200
const MOST_LISTED = 20

/**
 * What was read lately, for as long as nobody wrote it: the next reader gets the same frozen record instead of another
 * copy. A commit of this process forgets what it wrote and the lists that may show it. A commit of another process
 * forgets everything.
 */
export class Recall {
  readonly #records = new Map<string, Stored<unknown>>()
  /** By index, and by what was asked of it. */
  readonly #lists = new Map<string, Map<string, Page<unknown>>>()
  #bytes = 0
  #listed = 0
  #asOf: unknown

  /** `asOf` changes with every commit of another process. It is asked before each read, also of what is known here. */
  at(asOf: unknown): this {
    if (asOf !== this.#asOf) this.clear()
    this.#asOf = asOf
    return this
  }

  record(name: string): Stored<unknown> | undefined {
    return this.#records.get(name)
  }

  list(index: string, wanted: string): Page<unknown> | undefined {
    return this.#lists.get(index)?.get(wanted)
  }

  /** Returns it frozen: whoever changed it would change it for all readers. */
  keep<T>(name: string, stored: Stored<T>, bytes: number): Stored<T> {
    if (this.#bytes + bytes > MOST_BYTES) this.clear()
    this.#bytes += bytes
    const frozen = deeplyFrozen(stored)
    this.#records.set(name, frozen)
    return frozen
  }

  keepList(index: string, wanted: string, page: Page<unknown>): void {
    if (page.items.length > MOST_LISTED) return
    if (this.#listed >= MOST_LISTS) this.clear()
    this.#listed++
    this.#lists.set(index, (this.#lists.get(index) ?? new Map()).set(wanted, page))
  }

  forget(name: string): void {
    this.#records.delete(name)
  }

  /** An entry of the index is written or removed, or the record behind it is. */
  forgetLists(index: string): void {
    this.#listed -= this.#lists.get(index)?.size ?? 0
    this.#lists.delete(index)
  }

  clear(): void {
    this.#records.clear()
    this.#lists.clear()
    this.#bytes = 0
    this.#listed = 0
  }
}

function deeplyFrozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const part of Object.values(value)) deeplyFrozen(part)
  return Object.freeze(value)
}
