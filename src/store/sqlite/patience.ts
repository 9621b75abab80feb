import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { StoreTrouble } from '../../domain/errors.ts'
import { Unavailable } from '../port.ts'

/** How long SQLite itself may wait for a lock. Nothing else in the process can run while it waits. */
export const BUSY_TIMEOUT_MS = 10
const LONGEST_PAUSE_MS = 40
const PATIENCE_MS = 15_000
/** What a process is told that still has the file open. */
export const MOVED = 'The records of this home were moved to another store.'

const sqliteCode = (error: unknown): string => (error instanceof Database.SqliteError ? error.code : '')

/** Runs something on SQLite, and tries again while other processes have it locked. Never blocks for long. */
export async function patiently<T>(run: () => T): Promise<T> {
  let deadline: number | undefined
  for (let pause = 2; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return run()
    } catch (error) {
      if (!sqliteCode(error).startsWith('SQLITE_BUSY')) throw explained(error)
      deadline ??= performance.now() + PATIENCE_MS
      if (performance.now() > deadline)
        throw new Unavailable(`The store has been locked by another process for ${PATIENCE_MS / 1000} seconds.`, {
          try: 'Find the process that has the store file open, and end it.',
          cause: error,
        })
    }
    await delay(Math.random() * pause)
  }
}

/** Turns problems that a person can solve into words, and errors that leave a commit in doubt into Unavailable. */
export function explained(error: unknown): unknown {
  const code = sqliteCode(error)
  if (code.startsWith('SQLITE_IOERR') || code.startsWith('SQLITE_CANTOPEN'))
    return new Unavailable(
      'The disk that holds the store does not answer; it is unknown whether anything was written.',
      {
        try: 'Check that the disk is there and works, and what was written, before you ask again.',
        cause: error,
      },
    )
  if (error instanceof TypeError && error.message.includes('connection is not open'))
    return new Unavailable('The store is closed.', { try: 'fleet status', cause: error })
  if (code === 'SQLITE_CONSTRAINT_TRIGGER' && (error as Error).message === MOVED)
    return new StoreTrouble(MOVED, { try: 'Run the command again.', cause: error })
  if (code === 'SQLITE_FULL')
    return new StoreTrouble('The disk that holds the store is full; nothing was written.', {
      try: 'Free some space.',
      cause: error,
    })
  if (code.startsWith('SQLITE_NOTADB') || code.startsWith('SQLITE_CORRUPT'))
    return new StoreTrouble('The store file is damaged, or not a store at all.', {
      try: 'Put it aside and restore it from a backup, or start with an empty home.',
      cause: error,
    })
  return error
}
