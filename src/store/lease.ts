import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import * as z from 'zod'
import { effect } from '../platform/effects.ts'
import { requirePlain, textOf } from '../platform/whole-files.ts'

/** Who holds a home, as it says of itself. */
export const Holder = z.object({
  pid: z.number().int(),
  started: z.string().describe('when the process started, as the kernel tells it: a pid alone may be reused'),
  version: z.string(),
  host: z.string(),
  url: z.string().nullable().default(null).describe('where it answers; empty until it listens'),
  reachable_at: z.array(z.string()).default([]).describe('where other machines reach it'),
  settings: z.record(z.string(), z.string()).default({}).describe('the variables of settings it was started with'),
  flags: z.record(z.string(), z.string()).default({}).describe('settings its command line named, by key'),
})
export type Holder = z.infer<typeof Holder>

export interface Lease {
  /** Writes down for others who holds the home; may be repeated as more is known. */
  announce(holder: z.input<typeof Holder>): Promise<void>
  release(): void
}

/** Someone who only asks whether the lease is held is in the way for less than this. */
const WAIT_MS = 50

/** A lock must live as long as its process, even if nobody keeps the lease: an unreachable database is closed. */
const held = new Set<Database.Database>()

/**
 * The right to dispatch, land and migrate, for one process per home; undefined when another has it. It is the lock of
 * an open SQLite transaction: the kernel frees it with the process, however that ends, and no child inherits it.
 */
export function takeLease(home: string): Lease | undefined {
  mkdirSync(home, { recursive: true, mode: 0o700 })
  requirePlain(leaseFile(home))
  const db = new Database(leaseFile(home), { timeout: WAIT_MS })
  if (!locked(db, 'BEGIN EXCLUSIVE')) {
    db.close()
    return undefined
  }
  held.add(db)
  // What a holder that was killed has left behind.
  rmSync(holderFile(home), { force: true, recursive: true })
  return {
    announce: holder => writeHolder(home, holder),
    release() {
      if (!held.delete(db)) return
      rmSync(holderFile(home), { force: true })
      db.close()
    },
  }
}

export function isHeld(home: string): boolean {
  if (!existsSync(leaseFile(home))) return false
  requirePlain(leaseFile(home))
  const db = new Database(leaseFile(home), { timeout: 0, readonly: true, fileMustExist: true })
  try {
    return !locked(db, 'SELECT count(*) FROM sqlite_schema')
  } finally {
    db.close()
  }
}

/** What the last holder wrote; whether it still lives is for isHeld to say. */
export function readHolder(home: string): Holder | undefined {
  try {
    return Holder.safeParse(JSON.parse(textOf(holderFile(home)) ?? '')).data
  } catch {
    return undefined
  }
}

async function writeHolder(home: string, holder: z.input<typeof Holder>): Promise<void> {
  const temporary = `${holderFile(home)}.${crypto.randomUUID()}`
  await writeFile(temporary, `${JSON.stringify(Holder.parse(holder), null, 2)}\n`, { mode: 0o600 })
  await effect('holder.rename', () => rename(temporary, holderFile(home)))
}

function locked(db: Database.Database, statement: string): boolean {
  try {
    db.exec(statement)
    return true
  } catch (error) {
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return false
    throw error
  }
}

const leaseFile = (home: string): string => join(home, 'lease.db')
const holderFile = (home: string): string => join(home, 'holder.json')
