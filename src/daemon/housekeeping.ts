import { saveCounts } from '../fleet/counts.ts'
import { type Fleet, retryOnConflict } from '../fleet/fleet.ts'
import { AuditRetention } from '../fleet/people/audit-retention.ts'
import { forgetEndedJwts } from '../fleet/people/exchange.ts'
import type { Reactor, Ref } from '../fleet/reactor.ts'
import { ProcessTree } from '../runner/process-tree.ts'
import { marksOf, sideProcessIn } from '../runner/processes.ts'

const CHORES_EVERY_MS = 30_000
/** How many events are kept for readers who come back; older ones are dropped. */
const KEEP_EVENTS = 200_000
const KEEP_RECEIPTS_MS = 7 * 24 * 3_600_000
const BATCH = 50

/** Regular chores: ends processes that nobody owns, saves counts, drops old events, receipts, JWTs and audit log. */
export class Housekeeping implements Reactor {
  readonly name = 'housekeeping'
  readonly #fleet: Fleet
  readonly #audit: AuditRetention
  #due = 0

  constructor(fleet: Fleet) {
    this.#fleet = fleet
    this.#audit = new AuditRetention(fleet)
  }

  async *unfinished(): AsyncGenerator<Ref> {}

  affectedBy(): Ref[] {
    return []
  }

  async look(): Promise<void> {}

  async tick(): Promise<void> {
    if (performance.now() < this.#due) return
    const done = await Promise.allSettled([
      this.#sweepOrphans(),
      retryOnConflict(() => saveCounts(this.#fleet)),
      this.#fleet.store.trimEvents(KEEP_EVENTS),
      this.#trimReceipts(),
      retryOnConflict(() => forgetEndedJwts(this.#fleet)),
      this.#audit.round(),
    ])
    for (const each of done) if (each.status === 'rejected') throw each.reason
    this.#due = performance.now() + CHORES_EVERY_MS
  }

  /** Nobody repeats a command after days. */
  async #trimReceipts(): Promise<void> {
    const below = new Date(Date.parse(this.#fleet.now()) - KEEP_RECEIPTS_MS).toISOString()
    for (;;) {
      const { items } = await this.#fleet.store.find('receipts', { index: 'created', below, limit: BATCH })
      if (items.length)
        await this.#fleet.commit('commit.forgotten', {
          changes: items.map(({ value, version }) => ({ remove: 'receipts', id: value.id, expects: version })),
        })
      if (items.length < BATCH) return
    }
  }

  /** Ends processes of sessions and side processes that are over, if a crash left them running. */
  async #sweepOrphans(): Promise<void> {
    const swept = await Promise.allSettled([...marksOf(this.#fleet.home.id)].map(mark => this.#sweep(mark)))
    for (const each of swept) if (each.status === 'rejected') throw each.reason
  }

  async #sweep(mark: string): Promise<void> {
    const side = sideProcessIn(mark)
    const owner = side
      ? await this.#fleet.store.get('processes', side)
      : await this.#fleet.store.get('sessions', mark.slice(this.#fleet.home.id.length + 1))
    if (owner?.value.status === 'ended' || (side && !owner)) await new ProcessTree({ mark, worktree: null }).sweep()
  }
}
