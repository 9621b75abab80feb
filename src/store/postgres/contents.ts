import type { PoolClient } from 'pg'
import { NotAllowed } from '../../domain/errors.ts'
import { type Contents, type EventRow, type RecordRow, type Tally, tallyOf } from '../copy.ts'
import { type Address, addressOf, type PostgresSettings } from './address.ts'
import { Connection } from './connection.ts'
import { everyEvent, everyRecord } from './rows.ts'
import { bringUpToDate, headOf, inTransaction, writeEntries } from './schema.ts'

const LONGEST_MS = 3_600_000

async function lent<T>(
  settings: PostgresSettings,
  act: (client: PoolClient, address: Address) => Promise<T>,
): Promise<T> {
  const address = addressOf(settings)
  const connection = new Connection(address)
  try {
    return await connection.patiently(() => connection.lend(client => act(client, address), LONGEST_MS))
  } finally {
    await connection.close()
  }
}

const contentsOf = (client: PoolClient, { schema }: Address): Contents => ({
  records: () => everyRecord(client, schema),
  events: () => everyEvent(client, schema),
})

/** Reads a store as it is at one moment, while others may write it. */
export const withContentsOfPostgres = <T>(
  settings: PostgresSettings,
  act: (contents: Contents) => Promise<T>,
): Promise<T> =>
  lent(settings, (client, address) =>
    inTransaction(
      client,
      async () => {
        if (!(await headOf(client, address.schema)))
          throw new NotAllowed(`There is no store in ${address.words}.`, { try: 'Check the address and its schema.' })
        return act(contentsOf(client, address))
      },
      'ISOLATION LEVEL REPEATABLE READ READ ONLY',
    ),
  )

/**
 * Fills an empty store in one transaction: all of it is there or nothing. A target that already has exactly these rows
 * is left as it is, so a copy that was cut off after it can be repeated. Returns what is there then, and the id of the
 * store.
 */
export const fillPostgres = (
  settings: PostgresSettings,
  contents: Contents,
  wanted: Tally,
): Promise<{ id: string; tally: Tally }> =>
  lent(settings, async (client, address) => {
    const { id } = await bringUpToDate(client, address, { migrate: true })
    const { schema } = address
    const tally = await inTransaction(client, async () => {
      await client.query(`SELECT FROM ${schema}.store FOR UPDATE`)
      const there = await tallyOf(contentsOf(client, address))
      if (there.digest === wanted.digest) return there
      if (there.records || there.events)
        throw new NotAllowed(
          `The target is not empty: ${address.words} has ${there.records} records and ${there.events} events.`,
          { try: 'Choose another schema: add schema=<name> to the address.' },
        )
      await write(client, schema, contents)
      return tallyOf(contentsOf(client, address))
    })
    return { id, tally }
  })

async function write(client: PoolClient, schema: string, contents: Contents): Promise<void> {
  for await (const rows of contents.records()) {
    requireText(rows)
    await client.query(
      `INSERT INTO ${schema}.records (collection, id, version, body)
       SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[])`,
      columns<RecordRow>(rows, 'collection', 'id', 'version', 'body'),
    )
    await writeEntries(client, schema, rows)
  }
  for await (const rows of contents.events())
    await client.query(
      `INSERT INTO ${schema}.events (sequence, project_id, mission_id, body)
       SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[])`,
      columns<EventRow>(rows, 'sequence', 'project_id', 'mission_id', 'body'),
    )
  await client.query(
    `UPDATE ${schema}.store SET commits = commits + 1,
       sequence = greatest(sequence, (SELECT coalesce(max(sequence), 0) FROM ${schema}.events))`,
  )
}

/** PostgreSQL has no text with a zero in it. Only a damaged record has one: in JSON it is written as \\u0000. */
function requireText(rows: readonly RecordRow[]): void {
  const damaged = rows.find(({ body }) => body.includes('\0'))
  if (damaged)
    throw new NotAllowed(`The record ${damaged.collection}/${damaged.id} is damaged and cannot be copied.`, {
      try: 'fleet doctor',
    })
}

const columns = <T>(rows: readonly T[], ...names: (keyof T)[]): unknown[] =>
  names.map(name => rows.map(row => row[name]))
