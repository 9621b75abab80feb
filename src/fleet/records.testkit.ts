import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Event } from '../domain/records/event.ts'
import type { TakenOver } from '../domain/records/mission.ts'
import { NOW } from '../domain/samples.testkit.ts'
import type { Collection, RecordOf } from '../store/index.ts'
import type { Fleet } from './fleet.ts'
import { current, put } from './records.ts'

/** A person has taken a mission over, and has not handed it back. */
export const TAKEN_OVER: TakenOver = {
  ...{ by: 'person', since: NOW, session_id: null, gone: false, page: false, next: null, message: null },
  terminal: { pid: 1, started: '', boot: '', host: null },
  was: { status: 'running', result: null, ended_at: null },
}

/** Writes records that were not there. */
export const keep = <C extends Collection>(fleet: Fleet, collection: C, ...values: RecordOf<C>[]): Promise<void> =>
  fleet.store.commit({ changes: values.map(value => put(collection, value, 'absent')) })

export const read = async <C extends Collection>(fleet: Fleet, collection: C, id: string): Promise<RecordOf<C>> =>
  (await current(fleet, collection, id)).value

/** Changes a record like another process would: without a command and without an event. */
export async function change<C extends Collection>(
  fleet: Fleet,
  collection: C,
  id: string,
  more: Partial<RecordOf<C>>,
): Promise<void> {
  const { value, version } = await current(fleet, collection, id)
  await fleet.store.commit({ changes: [put(collection, { ...value, ...more }, version)] })
}

/** Runs `others` right before the next commit, after everything that the commit rests on was read. */
export function meanwhile(fleet: Fleet, others: () => Promise<unknown>): void {
  const { commit } = fleet
  fleet.commit = async (name, batch) => {
    fleet.commit = commit
    await others()
    return commit(name, batch)
  }
}

/** How many commits a piece of work makes. */
export async function commitsOf(fleet: Fleet, work: () => Promise<unknown>): Promise<number> {
  const { commit } = fleet
  let commits = 0
  fleet.commit = (name, batch) => {
    commits++
    return commit(name, batch)
  }
  await work().finally(() => {
    fleet.commit = commit
  })
  return commits
}

/** Everything that happened, the oldest first. */
export const eventsOf = async (fleet: Fleet): Promise<Event[]> => (await fleet.store.events({ limit: 1000 })).events

/** The same fleet with a program on its PATH: a script that prints a version unless another script is given. */
export function withProgram(fleet: Fleet, name: string, script = 'echo 1.0.0'): Fleet {
  const bin = join(fleet.home.path, 'bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`)
  chmodSync(join(bin, name), 0o755)
  return Object.create(fleet, { environment: { value: { PATH: `${bin}:/usr/bin:/bin`, HOME: fleet.home.path } } })
}
