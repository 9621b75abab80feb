import type { Event } from '../domain/records/event.ts'
import type { Collection } from '../store/index.ts'

/** A record, named by its collection and its id. */
export type Ref = `${Collection}/${string}`

export const refTo = (collection: Collection, id: string): Ref => `${collection}/${id}`
export const idIn = (ref: Ref): string => ref.slice(ref.indexOf('/') + 1)
export const isOf = (ref: Ref, collection: Collection): boolean => ref.startsWith(`${collection}/`)

/**
 * Acts on what was committed. The daemon drives all reactors alike, and none can stop another. What a reactor does
 * follows from the records alone, so it can look at a record at any time and any number of times.
 */
export interface Reactor {
  readonly name: string
  /** It cleans up: it hears of events a moment after the others, so that work people wait for comes first. */
  readonly isPatient?: boolean
  /** Its unfinished records. They are looked at after a start, and after events were missed. */
  unfinished(): AsyncIterable<Ref>
  /** The records of its own that an event may affect. */
  affectedBy(event: Event): readonly Ref[] | Promise<readonly Ref[]>
  /** Does what one record needs. Doing it again is free. */
  look(ref: Ref): Promise<void>
  /** Work on several records at once, such as a queue. Runs after every commit, and when the reactor asked for it. */
  pass?(): Promise<void>
  /** Runs every two seconds, for changes that no commit announces. */
  tick?(): Promise<void>
  /** Begins nothing new. What already runs goes on. */
  stop?(): void
}

/** What the daemon does for a reactor. */
export interface Desk {
  /** Aborted when the server stops. */
  readonly signal: AbortSignal
  /** Work that goes on after `look` returned. If it fails, the record gets a fault and is looked at again. */
  goOn(ref: Ref, work: Promise<unknown>): void
  /** One record of a pass. If it fails, the record gets a fault and is left out until its next try. */
  attempt(ref: Ref, work: () => Promise<void>): Promise<void>
  lookIn(ms: number, ref: Ref): void
  passIn(ms: number): void
}
