import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Unfit } from '../../domain/errors.ts'
import { COLLECTIONS, type Collection } from '../collections.ts'
import { encodeKey } from '../keys.ts'
import { Damaged, type Store, StoreOutdated, Unavailable } from '../port.ts'
import { aMission, anEvent } from '../samples.testkit.ts'
import { openSqlite } from './engine.ts'
import { examineSqlite } from './examine.ts'
import { explained } from './patience.ts'
import { aFolder, run } from './processes.testkit.ts'
import { bringUpToDate, MIGRATIONS, tableOf } from './schema.ts'

const aFile = () => join(aFolder(), 'store.db')

async function aStore(file = aFile()): Promise<Store> {
  const store = await openSqlite(file, { migrate: true })
  onTestFinished(() => store.close())
  return store
}

async function aSharedStore(): Promise<{ file: string; store: Store }> {
  const file = aFile()
  const store = await aStore(file)
  await store.commit({ changes: [{ put: 'missions', value: aMission('count'), expects: 'absent' }] })
  return { file, store }
}

/** A second connection, to look at the file or change it. */
function rawly<T>(file: string, act: (db: Database.Database) => T): T {
  const db = new Database(file)
  try {
    return act(db)
  } finally {
    db.close()
  }
}

test('eight processes write at once: all get through, and a reader misses and reorders nothing', async () => {
  const { file, store } = await aSharedStore()
  const each = 25
  const writers = Array.from({ length: 8 }, (_, n) => run('writer.testkit.ts', file, `w${n}`, String(each)))
  const seen: string[] = []
  let after = await store.tail()
  const read = async () => {
    const page = await store.events({ after, limit: 7 })
    after = page.cursor
    seen.push(...page.events.map(({ data }) => `${data.writer}-${data.n}`))
  }
  while (seen.length < 8 * each) {
    await read()
    await new Promise(setImmediate)
    expect(writers.filter(writer => writer.child.exitCode)).toEqual([])
  }
  expect(await Promise.all(writers.map(writer => writer.exit))).toEqual(Array(8).fill(0))
  await read()
  expect(seen).toHaveLength(8 * each)
  writers.forEach((writer, n) => {
    expect(seen.filter(event => event.startsWith(`w${n}-`))).toEqual(writer.printed)
  })
  expect((await store.get('missions', 'count'))!.value.sessions).toBe(8 * each)
})

test('a writer killed in mid-stream has lost nothing it was told is written, and leaves the store whole', async () => {
  const { file, store } = await aSharedStore()
  for (let round = 0; round < 3; round++) {
    const writer = run('writer.testkit.ts', file, `r${round}`, '1000000')
    await writer.lines(40 + round * 17)
    // Every process that opens it, before or after the kill, finds all records.
    for (let n = 0; n < 50; n++) await (await openSqlite(file, { migrate: false })).close()
    writer.child.kill('SIGKILL')
    expect(await writer.exit).toBe('SIGKILL')
    await (await openSqlite(file, { migrate: false })).close()
    for (const id of writer.printed) expect(await store.get('missions', id), id).toBeDefined()
  }
  const { events } = await store.events({ limit: 1_000_000 })
  expect((await store.get('missions', 'count'))!.value.sessions).toBe(events.length)
  const found = await store.find('missions', { index: 'created', limit: 1_000_000 })
  expect(found.items).toHaveLength(events.length + 1)
  expect(rawly(file, db => db.pragma('integrity_check', { simple: true }))).toBe('ok')
})

test.each([
  ['while others commit', 5, 0, undefined],
  // Longer than it goes on looking.
  ['after a rest', 3, 1300, undefined],
  ['after the log was cut short', 3, 1300, 'wal_checkpoint(TRUNCATE)'],
])("another process's commit is hinted at within 100 ms, %s", async (_, rounds, restMs, before) => {
  const { file, store } = await aSharedStore()
  let hinted = Number.NaN
  store.watch(() => {
    hinted = performance.now()
  })
  const delays: number[] = []
  for (let round = 0; round < rounds; round++) {
    if (before) rawly(file, db => db.pragma(before))
    await pause(restMs)
    hinted = Number.NaN
    rawly(file, db => db.exec(`INSERT INTO events (body) VALUES ('{}')`))
    const committed = performance.now()
    await vi.waitFor(() => expect(hinted).toBeGreaterThan(0), { interval: 5, timeout: 10_000 })
    delays.push(hinted - committed)
  }
  // The median, because a busy machine may delay any single one.
  expect(delays.sort((a, b) => a - b)[Math.floor(rounds / 2)]).toBeLessThan(100)
})

test('a commit that finds the store locked waits without stopping the process', async () => {
  const { file, store } = await aSharedStore()
  const other = new Database(file)
  other.exec('BEGIN IMMEDIATE')
  let longest = 0
  let last = performance.now()
  const beat = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 1)
  let done = false
  const committing = store.commit({ changes: [], events: [anEvent()] }).then(() => {
    done = true
  })
  const lockedUntil = performance.now() + 300
  await vi.waitFor(() => expect(performance.now()).toBeGreaterThan(lockedUntil))
  expect(done).toBe(false)
  other.close()
  await committing
  clearInterval(beat)
  expect(longest).toBeLessThan(200)
})

test('readers and a writer do not wait for each other: the log is written ahead', async () => {
  const { file, store } = await aSharedStore()
  expect(rawly(file, db => db.pragma('journal_mode', { simple: true }))).toBe('wal')
  const read = await rawly(file, db => {
    db.exec('BEGIN IMMEDIATE; DELETE FROM records_missions')
    return store.get('missions', 'count')
  })
  expect(read).toBeDefined()
})

test('thousands of old events are dropped down to those wanted', async () => {
  const store = await aStore()
  const ninety = Array.from({ length: 90 }, () => anEvent())
  for (let n = 0; n < 30; n++) await store.commit({ changes: [], events: ninety })
  const { events } = await store.events({ limit: 3000 })
  await store.trimEvents(10)
  expect((await store.events({ limit: 3000 })).events).toEqual(events.slice(-10))
  expect(await store.events({ after: '999999', limit: 1 })).toMatchObject({ reset: true })
})

test('a store newer than the program is refused with both versions and a way out', async () => {
  const { file } = await aSharedStore()
  rawly(file, db => db.pragma('user_version = 97'))
  for (const migrate of [true, false]) {
    const refusal = await openSqlite(file, { migrate }).catch(error => error)
    expect(refusal).toBeInstanceOf(Unfit)
    expect(refusal.message).toContain('version 97')
    expect(refusal.message).toContain(`version ${MIGRATIONS.length}`)
    expect(refusal.hint).toContain('newer')
  }
})

test('only a process that may migrate makes a missing store', async () => {
  const file = aFile()
  const refusal = await openSqlite(file, { migrate: false }).catch(error => error)
  expect(refusal).toBeInstanceOf(StoreOutdated)
  expect(refusal).toMatchObject({ missing: true, hint: expect.stringContaining('fleet up') })
  expect(existsSync(file)).toBe(false)
  await aStore(file)
  await (await openSqlite(file, { migrate: false })).close()
})

test('an older store is migrated step by step, each step once, and refused otherwise', () => {
  const taken: string[] = []
  const steps = ['one', 'two', 'three'].map(name => () => void taken.push(name))
  rawly(aFile(), db => {
    bringUpToDate(db, { migrate: true }, steps.slice(0, 1))
    expect(() => bringUpToDate(db, { migrate: false }, steps)).toThrow(/version 1; this program needs version 3/)
    bringUpToDate(db, { migrate: true }, steps)
    bringUpToDate(db, { migrate: true }, steps)
  })
  expect(taken).toEqual(['one', 'two', 'three'])
})

test('a store from before an index was declared is found through it once it is migrated', async () => {
  const { file, store } = await aSharedStore()
  const found = async (on: Store) => (await on.find('missions', { index: 'created', limit: 10 })).items.length
  const before = await found(store)
  await store.close()
  rawly(file, db => {
    db.exec(`DELETE FROM index_entries WHERE name = 'missions.created'`)
    db.exec('DROP TABLE records_workflows')
    db.pragma('user_version = 1')
  })
  const migrated = await openSqlite(file, { migrate: true })
  expect(before).toBeGreaterThan(0)
  expect(await found(migrated)).toBe(before)
  expect((await migrated.find('workflows', { index: 'created', limit: 1 })).items).toEqual([])
  await migrated.close()
})

test('a store that counted missions without their projects counts them anew, up to the newest event', async () => {
  const { file, store } = await aSharedStore()
  const others = ['draft', 'done', 'done'].map((status, n) =>
    aMission(`m${n}`, { status: status as 'draft' | 'done', project_id: n === 2 ? 'q' : 'p' }),
  )
  await store.commit({
    changes: others.map(value => ({ put: 'missions' as const, value, expects: 'absent' as const })),
    events: [anEvent(), anEvent()],
  })
  const tail = await store.tail()
  await store.close()
  rawly(file, db => {
    const old = JSON.stringify({ id: 'missions', cursor: '1', counts: { draft: 7, completed: 3 } })
    db.prepare('INSERT INTO records_counts (id, version, body) VALUES (?, 4, ?)').run('missions', old)
    db.pragma('user_version = 4')
  })
  const migrated = await aStore(file)
  expect(await migrated.get('counts', 'missions')).toEqual({
    value: {
      id: 'missions',
      cursor: tail,
      counts: { draft: 2, done: 2 },
      projects: { p: { draft: 2, done: 1 }, q: { done: 1 } },
      totals: null,
    },
    version: '5',
  })
})

test('a home from before candidates tells the landing commit, the approval and what landed under their names', async () => {
  const { file, store } = await aSharedStore()
  await store.close()
  const THEN = '2026-01-03T00:00:00.000Z'
  const landing = { commit: 'l', onto: 'o', branch: 'main' }
  rawly(file, db => {
    const session = JSON.stringify({ id: 's1', end_commit: 'c', ended_at: '2026-01-02T00:00:00.000Z' })
    db.prepare('INSERT INTO records_sessions (id, version, body) VALUES (?, 1, ?)').run('s1', session)
    const old = {
      ...{ ...aMission('old'), status: 'landing', session_id: 's1', updated_at: '2026-01-03T00:00:00.000Z' },
      ...{ candidate: { ...landing, checked: true }, approved: true, landed: { ...landing, at: THEN } },
      undo: { requested_at: THEN, candidate: { ...landing, checked: true } },
    }
    db.prepare('INSERT INTO records_missions (id, version, body) VALUES (?, 1, ?)').run('old', JSON.stringify(old))
    db.pragma('user_version = 8')
  })
  const migrated = await aStore(file)
  const { value } = (await migrated.get('missions', 'old'))!
  expect(value).toMatchObject({
    candidate: { commit: 'c', session_id: 's1', at: '2026-01-02T00:00:00.000Z' },
    landing_commit: { ...landing, checked: true },
    approval: { candidate: 'c', by: 'person' },
    landed: { ...landing, at: THEN, candidate: 'c', includes: [], evidence: [], with: null, undone: null },
    past_landings: [],
    undo: { requested_at: THEN, landing_commit: { ...landing, checked: true } },
  })
  expect(value).not.toHaveProperty('approved')
  expect((await migrated.get('missions', 'count'))!.value).toMatchObject({ candidate: null, landing_commit: null })
})

test('a migration that fails leaves the store as it was', () => {
  const broken = [
    (db: Database.Database) => void db.exec('CREATE TABLE half (id)'),
    () => {
      throw new Error('no')
    },
  ]
  rawly(aFile(), db => {
    expect(() => bringUpToDate(db, { migrate: true }, broken)).toThrow('no')
    expect(db.pragma('user_version', { simple: true })).toBe(0)
    expect(db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()).toEqual({ n: 0 })
  })
})

test('a file that is no store is refused in plain words', async () => {
  const file = aFile()
  writeFileSync(file, 'Dear diary, '.repeat(1000))
  const refusal = await openSqlite(file, { migrate: true }).catch(error => error)
  expect(refusal).toBeInstanceOf(Unfit)
  expect(refusal.message).toContain('not a store')
})

test('a field added after a record was written reads as its default', async () => {
  const { file, store } = await aSharedStore()
  rawly(file, db => db.exec(`UPDATE records_missions SET body = json_remove(body, '$.tags', '$.priority')`))
  expect((await store.get('missions', 'count'))!.value).toMatchObject({ tags: [], priority: 0 })
})

test('an update rewrites only the index entries that changed', async () => {
  const { file, store } = await aSharedStore()
  const entries = () => rawly(file, db => db.prepare('SELECT count(*) AS n FROM index_entries').get())
  rawly(file, db =>
    db.exec(`CREATE TABLE touched (name TEXT);
      CREATE TRIGGER added AFTER INSERT ON index_entries BEGIN INSERT INTO touched VALUES ('+' || NEW.name); END;
      CREATE TRIGGER dropped AFTER DELETE ON index_entries BEGIN INSERT INTO touched VALUES ('-' || OLD.name); END;`),
  )
  const before = entries()
  const { version } = (await store.get('missions', 'count'))!
  await store.commit({ changes: [{ put: 'missions', value: aMission('count', { status: 'done' }), expects: version }] })
  expect(rawly(file, db => db.prepare('SELECT name FROM touched ORDER BY name').pluck().all())).toEqual([
    '+missions.project_status',
    '+missions.status',
    '-missions.project_status',
    '-missions.status',
  ])
  expect(entries()).toEqual(before)
})

test('a commit that no longer remembers the record moves its index entries all the same', async () => {
  const { file, store } = await aSharedStore()
  const elsewhere = await aStore(file)
  const statuses = ['draft', 'queued', 'running', 'draft'] as const
  for (const [round, status] of statuses.entries()) {
    const { value, version } = (await store.get('missions', 'count'))!
    // Another process commits, and the next read forgets what was read before.
    await elsewhere.commit({ changes: [{ put: 'missions', value: aMission(`other-${round}`), expects: 'absent' }] })
    await store.get('missions', `other-${round}`)
    await store.commit({ changes: [{ put: 'missions', value: { ...value, status }, expects: version }] })
    for (const each of ['draft', 'queued', 'running'] as const) {
      const { items } = await store.find('missions', { index: 'status', equals: [each], limit: 100 })
      expect(items.some(({ value: { id } }) => id === 'count')).toBe(each === status)
    }
  }
  const { version } = (await store.get('missions', 'count'))!
  await elsewhere.commit({ changes: [{ put: 'missions', value: aMission('last'), expects: 'absent' }] })
  await store.get('missions', 'last')
  await store.commit({ changes: [{ remove: 'missions', id: 'count', expects: version }] })
  const left = rawly(file, db => db.prepare(`SELECT count(*) FROM index_entries WHERE id = 'count'`).pluck().get())
  expect(left).toBe(0)
})

test('an error that leaves a commit in doubt is Unavailable, and no other error is', async () => {
  const store = await openSqlite(aFile(), { migrate: true })
  await store.close()
  await expect(store.commit({ changes: [], events: [anEvent()] })).rejects.toBeInstanceOf(Unavailable)
  await expect(store.get('missions', 'a')).rejects.toBeInstanceOf(Unavailable)
  const told = (code: string) => explained(new Database.SqliteError('no', code))
  for (const code of ['SQLITE_IOERR', 'SQLITE_IOERR_FSYNC', 'SQLITE_CANTOPEN'])
    expect(told(code)).toBeInstanceOf(Unavailable)
  for (const code of ['SQLITE_FULL', 'SQLITE_CORRUPT', 'SQLITE_CONSTRAINT'])
    expect(told(code)).not.toBeInstanceOf(Unavailable)
})

test('a damaged record can be written anew, and lists show it once', async () => {
  const { file, store } = await aSharedStore()
  rawly(file, db => db.exec(`UPDATE records_missions SET body = '{"half'`))
  const damaged = await store.get('missions', 'count').catch(error => error)
  expect(damaged).toBeInstanceOf(Damaged)
  const value = aMission('count', { status: 'done' })
  await store.commit({ changes: [{ put: 'missions', value, expects: damaged.version }] })
  for (const index of ['id', 'created', 'status'])
    expect((await store.find('missions', { index, limit: 10 })).items.map(item => item.value.status)).toEqual(['done'])
})

const WRONG: [string, (id: string) => string][] = [
  ['half of it', () => '{"half'],
  ['nothing but its id', id => JSON.stringify({ id })],
  ['fields of another type', id => JSON.stringify({ id, name: 7, status: [], windows: 'x', epoch: 'x', steps: 'x' })],
  ['no object', () => '[1]'],
]

test.each(WRONG)('a record with %s is damaged, whatever its collection', async (_, body) => {
  const { file, store } = await aSharedStore()
  for (const collection of Object.keys(COLLECTIONS) as Collection[]) {
    rawly(file, db => {
      db.prepare(`INSERT INTO records_${collection} VALUES ('odd', 1, ?)`).run(body('odd'))
      db.prepare('INSERT INTO index_entries VALUES (?, ?, ?)').run(`${collection}.id`, encodeKey(['odd']), 'odd')
    })
    await expect(store.get(collection, 'odd'), collection).rejects.toBeInstanceOf(Damaged)
    const { items } = await store.find(collection, { index: 'id', limit: 1000 })
    expect(items.map(({ value }) => value.id)).not.toContain('odd')
    expect(store.unreadable).toContain(`${collection}/odd`)
  }
})

test('a damaged event is left out, and its reader is told to look at the state', async () => {
  const damaged: string[] = []
  const file = aFile()
  const store = await openSqlite(file, { migrate: true, onDamage: name => damaged.push(name) })
  onTestFinished(() => store.close())
  const told = () => store.commit({ changes: [], events: [anEvent()] })
  await told()
  const before = await store.tail()
  rawly(file, db => {
    for (const body of ['{"half', '{}', 'null', '{"kind":"x","time":"t","data":null}'])
      db.prepare('INSERT INTO events (body) VALUES (?)').run(body)
  })
  await told()
  const page = await store.events({ after: before, limit: 10 })
  expect([page.events.length, page.reset, page.cursor]).toEqual([1, true, await store.tail()])
  expect(await store.events({ after: page.cursor, limit: 10 })).toMatchObject({ events: [], reset: false })
  await store.events({ limit: 10 })
  expect(damaged).toEqual(['events/2', 'events/3', 'events/4', 'events/5'])
  expect(examineSqlite(file).damaged).toEqual(damaged)
})

test('what was read is not read again until it is written, here or elsewhere', async () => {
  const { file, store } = await aSharedStore()
  const first = (await store.get('missions', 'count'))!
  const byStatus = { index: 'status', equals: ['draft'], limit: 10 }
  const listed = await store.find('missions', byStatus)
  expect(await store.get('missions', 'count')).toBe(first)
  expect((await store.find('missions', byStatus)).items[0]).toBe(first)
  // A list belongs to who asked for it.
  listed.items.length = 0
  expect((await store.find('missions', byStatus)).items).toEqual([first])

  await store.commit({ changes: [{ put: 'missions', value: aMission('other'), expects: 'absent' }] })
  expect(await store.get('missions', 'count')).toBe(first)
  expect((await store.find('missions', byStatus)).items).toHaveLength(2)

  const here = { ...first.value, title: 'here' }
  await store.commit({ changes: [{ put: 'missions', value: here, expects: first.version }] })
  expect(await store.get('missions', 'count')).toMatchObject({ value: { title: 'here' } })
  const titles = async () => (await store.find('missions', byStatus)).items.map(({ value }) => value.title)
  expect(await titles()).toContain('here')

  const elsewhere = await aStore(file)
  const { version } = (await elsewhere.get('missions', 'count'))!
  const theirs = { ...here, title: 'elsewhere' }
  await elsewhere.commit({ changes: [{ put: 'missions', value: theirs, expects: version }] })
  expect(await store.get('missions', 'count')).toMatchObject({ value: { title: 'elsewhere' } })
  expect(await titles()).toContain('elsewhere')
  await expect(store.commit({ changes: [{ put: 'missions', value: here, expects: version }] })).rejects.toThrow(
    'is not what was read',
  )
  expect(await titles()).toContain('elsewhere')

  rawly(file, db => db.prepare(`DELETE FROM ${tableOf('missions')} WHERE id = ?`).run('count'))
  expect(await store.get('missions', 'count')).toBeUndefined()
  expect(await titles()).toEqual([aMission('other').title])
})

test('nobody can change a record for the next reader', async () => {
  const { store } = await aSharedStore()
  const { value } = (await store.get('missions', 'count'))!
  expect(() => value.tags.push('mine')).toThrow(TypeError)
  expect(() => Object.assign(value, { title: 'mine' })).toThrow(TypeError)
})
