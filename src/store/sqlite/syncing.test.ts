import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { Syncing } from './syncing.ts'

const [NORMAL, FULL] = [1, 2]

function aDatabase(): Database.Database {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-syncing-'))
  const db = new Database(join(folder, 'db'))
  onTestFinished(() => {
    db.close()
    rmSync(folder, { recursive: true })
  })
  db.pragma('journal_mode = WAL')
  return db
}

test('only the one transaction does not wait for the disk, however it ends', () => {
  const db = aDatabase()
  const syncing = new Syncing(db)
  const now = () => db.pragma('synchronous', { simple: true })
  const begun = () => {
    db.exec('BEGIN IMMEDIATE')
    const during = now()
    db.exec('ROLLBACK')
    return during
  }

  expect(begun()).toBe(FULL)
  expect(syncing.without(begun)).toBe(NORMAL)
  expect(begun()).toBe(FULL)
  expect(() =>
    syncing.without(() => {
      throw new Error('refused')
    }),
  ).toThrow('refused')
  expect(begun()).toBe(FULL)
})
