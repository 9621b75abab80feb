import { createHash } from 'node:crypto'
import type { Collection } from './collections.ts'

/** A record as an engine has it, damaged or not. */
export interface RecordRow {
  collection: Collection
  id: string
  version: string
  body: string
}
export interface EventRow {
  sequence: string
  project_id: string | null
  mission_id: string | null
  body: string
}

/** Everything in a store as it is at one moment, in one order on every engine: by collection and id, by sequence. */
export interface Contents {
  records(): AsyncIterable<RecordRow[]>
  events(): AsyncIterable<EventRow[]>
}

/** What a copy is compared by. */
export interface Tally {
  records: number
  events: number
  /** Of every field of every row. */
  digest: string
}

export async function tallyOf(contents: Contents): Promise<Tally> {
  const hash = createHash('sha256')
  const add = (...fields: (string | null)[]) => hash.update(`${JSON.stringify(fields)}\n`)
  const tally = { records: 0, events: 0 }
  for await (const rows of contents.records())
    for (const { collection, id, version, body } of rows) {
      add(collection, id, version, body)
      tally.records++
    }
  for await (const rows of contents.events())
    for (const { sequence, project_id, mission_id, body } of rows) {
      add(sequence, project_id, mission_id, body)
      tally.events++
    }
  return { ...tally, digest: hash.digest('hex') }
}
