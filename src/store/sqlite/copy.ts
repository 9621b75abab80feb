import Database from 'better-sqlite3'
import { Unfit } from '../../domain/errors.ts'

const WAIT_MS = 5000
/**
 * Copies all pages at once. A copy in parts starts again whenever another process commits, and would never end beside a
 * busy fleet.
 */
const EVERY_PAGE = 0x7fffffff

/**
 * Copies a store in use, as it is at one moment. Others can read and write the original during the copy, because it has
 * a write-ahead log. This process does nothing else until the copy is complete.
 */
export async function copySqlite(file: string, to: string): Promise<void> {
  const db = new Database(file, { timeout: WAIT_MS, fileMustExist: true })
  try {
    await db.backup(to, { progress: () => EVERY_PAGE })
  } finally {
    db.close()
  }
  requireSound(to)
}

function requireSound(file: string): void {
  const db = new Database(file, { fileMustExist: true })
  try {
    const found = db.pragma('quick_check', { simple: true })
    if (found !== 'ok') throw new Unfit(`The copy of the store is damaged: ${String(found)}`, { try: 'fleet doctor' })
  } finally {
    db.close()
  }
}
