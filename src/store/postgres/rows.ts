import type { ClientBase } from 'pg'
import type { EventRow, RecordRow } from '../copy.ts'

const PAGE = 1000

type Db = Pick<ClientBase, 'query'>

/** All records in the order of collection and id, a page at a time. */
export const everyRecord = (db: Db, schema: string): AsyncGenerator<RecordRow[]> =>
  pages<RecordRow>(db, ['', ''], ({ collection, id }) => [collection, id], {
    select: `SELECT collection, id, version, body FROM ${schema}.records WHERE (collection, id) > ($1, $2)`,
    order: 'collection, id',
  })

/** All events kept, in order. */
export const everyEvent = (db: Db, schema: string): AsyncGenerator<EventRow[]> =>
  pages<EventRow>(db, [0], ({ sequence }) => [sequence], {
    select: `SELECT sequence, project_id, mission_id, body FROM ${schema}.events WHERE sequence > $1`,
    order: 'sequence',
  })

export const everyEntry = (db: Db, schema: string): AsyncGenerator<{ name: string; key: Buffer; id: string }[]> =>
  pages<{ name: string; key: Buffer; id: string }>(db, ['', Buffer.alloc(0)], ({ name, key }) => [name, key], {
    select: `SELECT name, key, id FROM ${schema}.index_entries WHERE (name, key) > ($1, $2::bytea)`,
    order: 'name, key',
  })

async function* pages<T extends object>(
  db: Db,
  start: unknown[],
  keyOf: (row: T) => unknown[],
  { select, order }: { select: string; order: string },
): AsyncGenerator<T[]> {
  for (let last = start; ; ) {
    const { rows } = await db.query<T>(`${select} ORDER BY ${order} LIMIT ${PAGE}`, last)
    if (rows.length) yield rows
    if (rows.length < PAGE) return
    last = keyOf(rows.at(-1)!)
  }
}
