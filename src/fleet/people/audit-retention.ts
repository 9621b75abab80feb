import { type AuditEntry, principalKey } from '../../domain/records/audit.ts'
import type { Fleet } from '../fleet.ts'

const DAY_MS = 24 * 3600_000
/** One round reads and removes at most so many, so that it keeps nobody waiting. */
const MOST_READ = 1000
const MOST_REMOVED = 500
const BATCH = 50

/** Drops entries of the audit log that are too old or too many, in small steps. */
export class AuditRetention {
  readonly #fleet: Fleet
  /** How many there are of each, counted from the oldest, and how far that has come. No engine has to count. */
  readonly #counts = new Map<string, number>()
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
    const old = await this.#remove(MOST_REMOVED, { index: 'at', below })
    const counted = [...this.#counts.values()].reduce((sum, count) => sum + count, 0)
    let surplus = Math.min(counted - auditMost, MOST_REMOVED - old)
    // Of whoever has the most: a flood pushes out its own beginning, not what others did.
    while (surplus > 0) {
      const [busiest] = [...this.#counts].reduce((most, each) => (each[1] > most[1] ? each : most))
      const removed = await this.#remove(Math.min(surplus, BATCH), { index: 'principal', equals: [busiest] })
      if (!removed) this.#counts.delete(busiest)
      surplus -= Math.max(removed, 1)
    }
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
      for (const { value } of added) this.#note(value, 1)
      this.#upTo = added.at(-1)?.value.at ?? this.#upTo
      if (this.#isCounted ? !added.length : cursor === undefined) {
        this.#isCounted = true
        return
      }
      this.#cursor = cursor
    }
  }

  /** The oldest first. Returns how many. */
  async #remove(most: number, of: { index: string; equals?: string[]; below?: string }): Promise<number> {
    let removed = 0
    while (removed < most) {
      const limit = Math.min(BATCH, most - removed)
      const { items } = await this.#fleet.store.find('audit', { ...of, limit })
      if (items.length)
        await this.#fleet.commit('commit.forgotten', {
          changes: items.map(({ value, version }) => ({ remove: 'audit', id: value.id, expects: version })),
          isRepeatable: true,
        })
      removed += items.length
      for (const { value } of items) this.#note(value, -1)
      if (items.length < limit) break
    }
    return removed
  }

  #note({ principal }: AuditEntry, by: 1 | -1): void {
    const key = principalKey(principal)
    const count = (this.#counts.get(key) ?? 0) + by
    if (count > 0) this.#counts.set(key, count)
    else this.#counts.delete(key)
  }
}
