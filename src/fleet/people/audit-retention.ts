import type { Fleet } from '../fleet.ts'

const DAY_MS = 24 * 3600_000
/** One round reads and removes at most so many, so that it keeps nobody waiting. */
const MOST_READ = 1000
const MOST_REMOVED = 500
const BATCH = 50

/** Drops entries of the audit log that are too old or too many, in small steps. */
export class AuditRetention {
  readonly #fleet: Fleet
  /** How many there are, counted from the oldest, and how far that has come. No engine has to count. */
  #counted = 0
  #cursor: string | undefined
  #isCounted = false
  #upTo = ''

  constructor(fleet: Fleet) {
    this.#fleet = fleet
  }

  async round(): Promise<void> {
    const { auditDays, auditMost } = this.#fleet.settings
    await this.#count()
    const below = new Date(Date.parse(this.#fleet.now()) - auditDays * DAY_MS).toISOString()
    const old = await this.#remove(MOST_REMOVED, below)
    const surplus = Math.min(this.#counted - auditMost, MOST_REMOVED - old)
    if (surplus > 0) await this.#remove(surplus)
  }

  /** At first all of them, over several rounds. Then those that were added. */
  async #count(): Promise<void> {
    for (let read = 0; read < MOST_READ; ) {
      const { items, cursor } = await this.#fleet.store.find('audit', {
        ...{ index: 'at', limit: 200 },
        ...(this.#isCounted ? { from: this.#upTo } : { cursor: this.#cursor }),
      })
      // Entries of the same millisecond as the last one may be counted twice or not at all. A restart counts again.
      const added = this.#isCounted ? items.filter(({ value }) => value.at > this.#upTo) : items
      read += Math.max(items.length, 1)
      this.#counted += added.length
      this.#upTo = added.at(-1)?.value.at ?? this.#upTo
      if (this.#isCounted ? !added.length : cursor === undefined) {
        this.#isCounted = true
        return
      }
      this.#cursor = cursor
    }
  }

  /** The oldest first. Returns how many. */
  async #remove(most: number, below?: string): Promise<number> {
    let removed = 0
    while (removed < most) {
      const limit = Math.min(BATCH, most - removed)
      const { items } = await this.#fleet.store.find('audit', { index: 'at', below, limit })
      if (items.length)
        await this.#fleet.commit('commit.forgotten', {
          changes: items.map(({ value, version }) => ({ remove: 'audit', id: value.id, expects: version })),
          isRepeatable: true,
        })
      removed += items.length
      this.#counted = Math.max(0, this.#counted - items.length)
      if (items.length < limit) break
    }
    return removed
  }
}
