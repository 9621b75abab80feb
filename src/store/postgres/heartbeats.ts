import { LEASE_MS } from '../../domain/rules/lease.ts'
import type { Heartbeats, Held, Living, ServerInfo } from '../port.ts'
import type { Connection } from './connection.ts'
import { isCurrent } from './schema.ts'

/** A server that was not heard of for this long is no longer listed. */
const FORGOTTEN_S = 300

/** A renewal that waits longer than this is of no use any more. */
const BEAT_MS = 2000

const MS_LEFT = '(extract(epoch FROM until - clock_timestamp()) * 1000)::float8'
const VALID = `clock_timestamp() + interval '${LEASE_MS} milliseconds'`
const TEXT_OF = (column: string): string => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** One row says until when one server decides, and one row for each server when it was last heard of. */
export class PostgresHeartbeats implements Heartbeats {
  readonly #connection: Connection
  readonly #schema: string
  readonly #announce: () => void

  constructor(connection: Connection, announce: () => void) {
    this.#connection = connection
    this.#schema = connection.address.schema
    this.#announce = announce
  }

  async beat(server: ServerInfo, epoch?: number): Promise<boolean> {
    const renew = `UPDATE ${this.#schema}.heartbeat SET until = ${VALID} WHERE epoch = $3 AND server_id = $1 RETURNING 1`
    const rows = await this.#quickly<{ renewed: number; format: number; indexes: number }>(
      `WITH seen AS (
         INSERT INTO ${this.#schema}.servers (id, info, seen) VALUES ($1, $2, clock_timestamp())
         ON CONFLICT (id) DO UPDATE SET info = excluded.info, seen = excluded.seen
       ), gone AS (
         DELETE FROM ${this.#schema}.servers WHERE id <> $1
           AND seen < clock_timestamp() - interval '${FORGOTTEN_S} seconds'
       ), renewed AS (${renew})
       SELECT format, indexes, (SELECT count(*)::int FROM renewed) AS renewed FROM ${this.#schema}.store`,
      [server.id, JSON.stringify(server), epoch ?? -1],
    )
    const [row] = rows
    isCurrent(row!, this.#connection.address)
    return epoch === undefined || row!.renewed === 1
  }

  async claim(server: ServerInfo, beyond: number): Promise<number | undefined> {
    // Whoever waits for the row sees what the one before has written, and then it is held. Tried once: after a lost
    // answer the lease may be ours under an epoch that we do not know, and is over soon.
    const [row] = await this.#quickly<{ epoch: string }>(
      `UPDATE ${this.#schema}.heartbeat
         SET epoch = greatest(epoch, $1) + 1, server_id = $2, info = $3, since = clock_timestamp(), until = ${VALID}
       WHERE until <= clock_timestamp() RETURNING epoch`,
      [beyond, server.id, JSON.stringify(server)],
    )
    return row && Number(row.epoch)
  }

  async leftMs(epoch: number): Promise<number | undefined> {
    const [row] = await this.#quickly<{ left: number }>(
      `SELECT ${MS_LEFT} AS left FROM ${this.#schema}.heartbeat WHERE epoch = $1`,
      [epoch],
    )
    return row?.left
  }

  async release(epoch: number): Promise<void> {
    await this.#quickly(`UPDATE ${this.#schema}.heartbeat SET until = clock_timestamp() WHERE epoch = $1`, [epoch])
    this.#announce()
  }

  async leave(id: string): Promise<void> {
    await this.#quickly(`DELETE FROM ${this.#schema}.servers WHERE id = $1`, [id])
  }

  async held(): Promise<Held> {
    const [row] = await this.#quickly<{ epoch: string; info: string | null; since: string | null; left: number }>(
      `SELECT epoch, info, ${TEXT_OF('since')} AS since, ${MS_LEFT} AS left FROM ${this.#schema}.heartbeat`,
    )
    const { epoch, info, since, left } = row!
    return { epoch: Number(epoch), server: info === null ? null : JSON.parse(info), since, leftMs: left }
  }

  async servers(): Promise<Living[]> {
    const rows = await this.#quickly<{ info: string; since: string; quiet: number }>(
      `SELECT info, ${TEXT_OF('since')} AS since,
         (extract(epoch FROM clock_timestamp() - seen) * 1000)::float8 AS quiet
       FROM ${this.#schema}.servers ORDER BY since, id`,
    )
    return rows.map(({ info, since, quiet }) => ({ ...JSON.parse(info), since, quietMs: Math.max(0, quiet) }))
  }

  async mark(fingerprint: string, replace = false): Promise<string> {
    const [row] = await this.#quickly<{ keys: string }>(
      `UPDATE ${this.#schema}.heartbeat SET keys = CASE WHEN $2 THEN $1 ELSE coalesce(keys, $1) END RETURNING keys`,
      [fingerprint, replace],
    )
    return row!.keys
  }

  /** Once, with a short limit: what comes late says nothing about now. */
  async #quickly<T extends object>(text: string, values: unknown[] = []): Promise<T[]> {
    return this.#connection.promptly<T>(text, values, BEAT_MS)
  }
}
