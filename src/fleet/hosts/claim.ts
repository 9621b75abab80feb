import { NotAllowed } from '../../domain/errors.ts'
import { about } from '../../domain/rules/life.ts'
import { type Ask, by } from '../commands.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { all, put } from '../records.ts'

export interface Claimed {
  sessions: string[]
  processes: string[]
  terminals: string[]
}

/**
 * A person says that a host is gone for good, so everything that ran there now belongs to this machine. Its sessions
 * get a new generation, so that the host cannot write about them if it comes back. What has ended or was claimed by
 * another machine stays as it is. Doing it again is free.
 */
export async function claimHost(fleet: Fleet, ask: Ask, host: string): Promise<Claimed> {
  const here = fleet.home.host
  if (host === here) throw new NotAllowed(`${host} is this machine.`, { try: 'fleet status' })
  const sessions = await idsOf(all(fleet, 'sessions', 'live'), each => each.host === host)
  for (const id of sessions) await claimSession(fleet, ask, id, host)
  const processes = await idsOf(all(fleet, 'processes', 'live'), each => each.host === host)
  for (const id of processes)
    await retryOnConflict(async () => {
      const found = await fleet.store.get('processes', id)
      if (found?.value.host !== host || found.value.status === 'ended') return
      const { value, version } = found
      const event = about({ id: value.mission_id, project_id: value.project_id }, 'process_asked', by(fleet, ask), {
        data: { process: id, kind: value.kind },
      })
      await fleet.commit('commit.wish', {
        changes: [put('processes', { ...value, host: here }, version)],
        events: [event],
      })
    })
  const terminals = await idsOf(all(fleet, 'missions', 'taken_over'), each => each.taken_over?.terminal.host === host)
  for (const id of terminals)
    await retryOnConflict(async () => {
      const found = await fleet.store.get('missions', id)
      const taken = found?.value.taken_over
      if (taken?.terminal.host !== host) return
      const { value, version } = found!
      const taken_over = { ...taken, terminal: { ...taken.terminal, host: here } }
      await fleet.commit('commit.wish', { changes: [put('missions', { ...value, taken_over }, version)] })
    })
  return { sessions, processes, terminals }
}

async function idsOf<T extends { id: string }>(
  records: AsyncIterable<{ value: T }>,
  wanted: (record: T) => boolean,
): Promise<string[]> {
  return (await Array.fromAsync(records)).flatMap(({ value }) => (wanted(value) ? [value.id] : []))
}

async function claimSession(fleet: Fleet, ask: Ask, id: string, from: string): Promise<void> {
  await retryOnConflict(async () => {
    const found = await fleet.store.get('sessions', id)
    if (found?.value.host !== from || found.value.status === 'ended') return
    const { value, version } = found
    // The process id of another host means nothing on this machine.
    const mine = {
      ...value,
      host: fleet.home.host,
      generation: value.generation + 1,
      pid: null,
      process_started: null,
    }
    const event = about({ id: value.mission_id, project_id: value.project_id }, 'session_claimed', by(fleet, ask), {
      session_id: id,
      data: { from, host: mine.host, generation: mine.generation },
    })
    await fleet.commit('commit.wish', { changes: [put('sessions', mine, version)], events: [event] })
  })
}
