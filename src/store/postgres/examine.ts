import { Unfit } from '../../domain/errors.ts'
import { Examination, type StoreHealth } from '../health.ts'
import { addressOf, type PostgresSettings } from './address.ts'
import { Connection } from './connection.ts'
import { everyEntry, everyEvent, everyRecord } from './rows.ts'
import { headOf, inTransaction, renewIndexes } from './schema.ts'

const LONGEST_MS = 600_000

export interface PostgresHealth extends StoreHealth {
  /** Such as 15.18. */
  version: string
  place: string
  /** Whether the connection is encrypted. */
  encrypted: boolean
}

/** Checks the whole store as it is at one moment, and changes nothing. */
export async function examinePostgres(settings: PostgresSettings): Promise<PostgresHealth> {
  const address = addressOf(settings)
  const { schema, words, client: how } = address
  const connection = new Connection(address)
  try {
    return await connection.patiently(() =>
      connection.lend(
        client =>
          inTransaction(
            client,
            async () => {
              const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
              if (!(await headOf(client, schema))) throw new Unfit(`There is no store in ${words}.`)
              const examination = new Examination()
              for await (const page of everyRecord(client, schema))
                for (const { collection, id, body } of page) examination.record(collection, id, body)
              for await (const page of everyEvent(client, schema))
                for (const { sequence, body } of page) examination.event(sequence, body)
              for await (const page of everyEntry(client, schema))
                for (const { name, key, id } of page) examination.entry(name, key, id)
              return {
                ...examination.found({ faults: [], missing: [] }),
                version: rows[0]!.server_version.split(' ')[0]!,
                place: words,
                encrypted: how.ssl !== false,
              }
            },
            'ISOLATION LEVEL REPEATABLE READ READ ONLY',
          ),
        LONGEST_MS,
      ),
    )
  } finally {
    await connection.close()
  }
}

/** Builds the indexes again from all readable records. */
export async function repairPostgres(settings: PostgresSettings): Promise<void> {
  const address = addressOf(settings)
  const connection = new Connection(address)
  try {
    await connection.patiently(() =>
      connection.lend(client => inTransaction(client, () => renewIndexes(client, address.schema)), LONGEST_MS),
    )
  } finally {
    await connection.close()
  }
}
