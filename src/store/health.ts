import { COLLECTIONS, type Collection } from './collections.ts'
import { entriesOf, revive, reviveEvent } from './records.ts'

export interface StoreHealth {
  /** The problems that the database itself finds. */
  faults: string[]
  /** Records that cannot be read, by collection and id. */
  damaged: string[]
  /** Collections that have fewer or more records than were written, in words. */
  missing: string[]
  /** Index entries that are missing or lead nowhere. */
  indexes: number
}

/** Looks at every row of a store, on any engine: first all records, then events and index entries. */
export class Examination {
  readonly #damaged: string[] = []
  readonly #wanted = new Set<string>()
  #astray = 0

  record(collection: Collection, id: string, body: string): void {
    try {
      const record = COLLECTIONS[collection].schema.parse(revive(collection, body))
      for (const identity of entriesOf(collection, id, record).keys()) this.#wanted.add(identity)
    } catch {
      this.#damaged.push(`${collection}/${id}`)
    }
  }

  event(sequence: number | string, body: string): void {
    if (!reviveEvent('', body)) this.#damaged.push(`events/${sequence}`)
  }

  entry(name: string, key: Buffer, id: string): void {
    const isOfDamaged = () => this.#damaged.includes(`${name.slice(0, name.indexOf('.'))}/${id}`)
    if (!this.#wanted.delete(`${name} ${key.toString('latin1')}`) && !isOfDamaged()) this.#astray++
  }

  found(database: Pick<StoreHealth, 'faults' | 'missing'>): StoreHealth {
    return { ...database, damaged: this.#damaged, indexes: this.#astray + this.#wanted.size }
  }
}
