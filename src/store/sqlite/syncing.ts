import type Database from 'better-sqlite3'

/**
 * Decides for each commit whether it waits until the disk has it. One that does not wait is seen by everybody at once
 * and outlives the process; after a power failure it may be missing, but then so is all that came after it. The next
 * commit that waits brings it to the disk too, because both are in the same log.
 */
export class Syncing {
  readonly #db: Database.Database

  constructor(db: Database.Database) {
    this.#db = db
    this.#wait('FULL')
  }

  /** Runs a transaction without waiting for the disk. */
  without<T>(transaction: () => T): T {
    this.#wait('NORMAL')
    try {
      return transaction()
    } finally {
      this.#wait('FULL')
    }
  }

  /** SQLite obeys when the statement is prepared, so none can be prepared once and used again. */
  #wait(how: 'FULL' | 'NORMAL'): void {
    this.#db.exec(`PRAGMA synchronous = ${how}`)
  }
}
