import { type AuditEntry, principalKey } from '../../domain/records/audit.ts'
import { Conflict, MAX_COMMIT_ITEMS, type Store } from '../../store/index.ts'
import { derivedId } from '../derived-id.ts'

/** Who asks for what, from where. */
export type Asked = Pick<AuditEntry, 'principal' | 'way' | 'address' | 'device_id' | 'token_id' | 'operation'>

/** What an entry is about. */
export type About = Pick<AuditEntry, 'project_id' | 'mission_id' | 'touched'>

const FLUSH_MS = 1000
const MOST_TRIES = 5
/** Rows that one principal can make in an hour. What is beyond becomes one row. */
const MOST_OF_ONE = 200
const MOST_PRINCIPALS = 1000
const MINUTE = 16
const HOUR = 13
/** More refusals than these become one entry under this name. */
const OTHERS = 'other'

/**
 * Refusals of known principals. Equal ones of a minute are one entry with a count, and they are written together, at
 * most a second later: a flood of them fills no disk. A kill loses those of the last second.
 */
export class Refusals {
  readonly #store: Pick<Store, 'get' | 'commit'>
  readonly #waiting = new Map<string, AuditEntry>()
  readonly #ofHour = new Map<string, Set<string>>()
  #hour = ''
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(store: Pick<Store, 'get' | 'commit'>) {
    this.#store = store
  }

  note(asked: Asked, code: string, about: About, now: string): void {
    const entry = this.#entry(asked, code, about, now)
    const known = this.#waiting.get(entry.id)
    if (known) Object.assign(known, { count: known.count + 1, last_at: now })
    else this.#waiting.set(entry.id, entry)
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref()
  }

  #entry(asked: Asked, code: string, about: About, now: string): AuditEntry {
    const who = principalKey(asked.principal)
    const common = { at: now, last_at: now, outcome: 'refused' as const, count: 1 }
    const id = derivedId('refused', who, asked.way, asked.operation, code, about.project_id ?? '', now.slice(0, MINUTE))
    if (this.#isAllowed(who, id, now)) return { ...asked, ...about, ...common, id, code }
    const nothing = { project_id: null, mission_id: null, touched: [] }
    return {
      ...{ ...asked, ...nothing, ...common, operation: OTHERS, code: OTHERS },
      id: derivedId('refused', who, OTHERS, now.slice(0, HOUR)),
    }
  }

  #isAllowed(who: string, id: string, now: string): boolean {
    if (this.#hour !== now.slice(0, HOUR)) this.#ofHour.clear()
    this.#hour = now.slice(0, HOUR)
    const rows = this.#ofHour.get(who) ?? new Set()
    const [oldest] = this.#ofHour.keys()
    if (!this.#ofHour.has(who) && oldest !== undefined && this.#ofHour.size >= MOST_PRINCIPALS)
      this.#ofHour.delete(oldest)
    this.#ofHour.set(who, rows)
    if (!rows.has(id) && rows.size >= MOST_OF_ONE) return false
    rows.add(id)
    return true
  }

  /** Writes what waits. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    this.#writing = this.#writing.then(async () => {
      for (let at = 0; at < waiting.length; at += MAX_COMMIT_ITEMS)
        await this.#written(waiting.slice(at, at + MAX_COMMIT_ITEMS))
    })
    return this.#writing
  }

  async #written(entries: readonly AuditEntry[]): Promise<void> {
    for (let left = MOST_TRIES; left > 0; left--)
      try {
        return await this.#write(entries)
      } catch (error) {
        // A store that cannot be written still refuses. After a conflict another process was first.
        if (!(error instanceof Conflict)) return
      }
  }

  async #write(entries: readonly AuditEntry[]): Promise<void> {
    const changes = entries.map(async entry => {
      const before = await this.#store.get('audit', entry.id)
      if (!before) return { put: 'audit', value: entry, expects: 'absent' } as const
      const value = { ...before.value, count: before.value.count + entry.count, last_at: entry.last_at }
      return { put: 'audit', value, expects: before.version } as const
    })
    // A power failure may undo it, as a kill does a second earlier.
    await this.#store.commit({ changes: await Promise.all(changes), isRepeatable: true })
  }
}
