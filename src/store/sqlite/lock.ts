import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import * as z from 'zod'
import { effect } from '../../platform/effects.ts'
import { requirePlain, textOf } from '../../platform/whole-files.ts'

/** The process that holds a home, in its own words. */
export const DaemonInfo = z.object({
  pid: z.number().int(),
  started: z.string().describe('when the process started, as the kernel tells it: a pid alone may be reused'),
  version: z.string(),
  host: z.string(),
  url: z.string().nullable().default(null).describe('where it answers; empty until it listens'),
  reachable_at: z.array(z.string()).default([]).describe('where other machines reach it'),
  settings: z.record(z.string(), z.string()).default({}).describe('the variables of settings it was started with'),
  flags: z.record(z.string(), z.string()).default({}).describe('settings its command line named, by key'),
})
export type DaemonInfo = z.infer<typeof DaemonInfo>

/** One process per home holds it, for as long as it lives. */
export interface Lock {
  /** Tells others who holds the home. May be called again when more is known. */
  announce(daemon: z.input<typeof DaemonInfo>): Promise<void>
  release(): void
}

/** A process that only checks the lock blocks it for less than this. */
const WAIT_MS = 50

/**
 * Keeps each lock for the life of its process, even if the result of takeLock is dropped: an unreachable database is
 * closed.
 */
const held = new Set<Database.Database>()

/**
 * The right to serve a home on this machine; undefined if another process has it. It is the lock of an open SQLite
 * transaction: the kernel releases it when the process ends, however it ends, and no child inherits it.
 */
export function takeLock(home: string): Lock | undefined {
  mkdirSync(home, { recursive: true, mode: 0o700 })
  requirePlain(leaseFile(home))
  const db = new Database(leaseFile(home), { timeout: WAIT_MS })
  if (!locked(db, 'BEGIN EXCLUSIVE')) {
    db.close()
    return undefined
  }
  held.add(db)
  // A killed daemon leaves this file behind.
  rmSync(daemonFile(home), { force: true, recursive: true })
  return {
    announce: daemon => writeDaemon(home, daemon),
    release() {
      if (!held.delete(db)) return
      // The locked file may have been removed, and another process may have made and locked a new one since.
      if (readDaemon(home)?.pid === process.pid) rmSync(daemonFile(home), { force: true })
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

/** What the last daemon wrote. Use isHeld to find out whether it still lives. */
export function readDaemon(home: string, file = daemonFile(home)): DaemonInfo | undefined {
  try {
    return DaemonInfo.safeParse(JSON.parse(textOf(file) ?? '')).data
  } catch {
    return undefined
  }
}

/** Tells who decides for a home that several servers work in, whoever of them has its lock. */
export async function writeDaemon(
  home: string,
  daemon: z.input<typeof DaemonInfo>,
  file = daemonFile(home),
): Promise<void> {
  const temporary = `${file}.${crypto.randomUUID()}`
  await writeFile(temporary, `${JSON.stringify(DaemonInfo.parse(daemon), null, 2)}\n`, { mode: 0o600 })
  await effect('holder.rename', () => rename(temporary, file))
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
const daemonFile = (home: string): string => join(home, 'holder.json')
