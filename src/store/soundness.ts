import type { Event } from '../domain/records/event.ts'
import type { Collection, RecordOf } from './collections.ts'
import { requireSound, revive, reviveEvent } from './records.ts'

/** More than a fleet has at work. Beyond it, records are checked again. */
const MOST_SOUND = 50_000

/** Called once for each record that cannot be read. */
export type OnDamage = (record: string) => void

interface Row {
  version: number | string
  body: string
}

/** What an engine knows about records and events that something other than this program wrote, or that are damaged. */
export class Soundness {
  readonly unreadable = new Set<string>()
  /** The version of each record that was last found to fit its schema. */
  readonly #sound = new Map<string, number | string>()
  readonly #damagedEvents = new Set<number>()
  readonly #onDamage: OnDamage | undefined

  constructor(onDamage?: OnDamage) {
    this.#onDamage = onDamage
  }

  /** Each version of a record is checked once: what this process wrote was checked then. Throws if it is damaged. */
  value<C extends Collection>(collection: C, id: string, { body, version }: Row): RecordOf<C> {
    const value = revive(collection, body)
    const name = `${collection}/${id}`
    if (this.#sound.get(name) !== version) {
      requireSound(collection, value)
      this.trust(name, version)
    }
    return value
  }

  trust(name: string, version: number | string): void {
    if (this.#sound.size >= MOST_SOUND) this.#sound.clear()
    this.#sound.set(name, version)
  }

  /** Undefined if `read` throws: the record is reported once. */
  readable<T>(name: string, read: () => T): T | undefined {
    try {
      const value = read()
      this.forget(name)
      return value
    } catch {
      if (!this.unreadable.has(name)) this.#onDamage?.(name)
      this.unreadable.add(name)
      return undefined
    }
  }

  /** The record can be read again, or is gone. */
  forget(name: string): void {
    if (this.unreadable.size) this.unreadable.delete(name)
  }

  /** A damaged event is reported once and left out. It keeps nobody from working, so it is not among `unreadable`. */
  events(rows: readonly { sequence: number; body: string }[]): Event[] {
    return rows.flatMap(({ sequence, body }) => {
      const event = reviveEvent(String(sequence), body)
      if (!event && !this.#damagedEvents.has(sequence)) {
        this.#damagedEvents.add(sequence)
        this.#onDamage?.(`events/${sequence}`)
      }
      return event ?? []
    })
  }
}
