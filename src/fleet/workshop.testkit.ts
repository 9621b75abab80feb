import { execFileSync } from 'node:child_process'
import { onTestFinished } from 'vitest'
import type { Mission } from '../domain/records/mission.ts'
import type { Project } from '../domain/records/project.ts'
import type { Session } from '../domain/records/session.ts'
import { aMission, aProject, aSession, NOW } from '../domain/samples.testkit.ts'
import { aRepository } from '../git/testkit.ts'
import { type Batch, type Collection, memoryStore, type RecordOf, type Store } from '../store/index.ts'
import { aFleet } from './fleet.testkit.ts'
import type { Fleet } from './fleet.ts'
import { change, eventsOf, keep, read } from './records.testkit.ts'

/** A fleet in memory whose records a test writes and reads without ceremony. */
export function aBench(options: { store?: Store; now?: () => string } = {}) {
  const fleet = aFleet({ now: () => NOW, ...options })
  const save = <C extends Collection>(collection: C, ...values: RecordOf<C>[]): Promise<void> =>
    keep(fleet, collection, ...values)
  return {
    fleet,
    save,
    change: <C extends Collection>(collection: C, id: string, more: Partial<RecordOf<C>>): Promise<void> =>
      change(fleet, collection, id, more),
    mission: (id = 'm1'): Promise<Mission> => read(fleet, 'missions', id),
    session: (id = 's-m1'): Promise<Session> => read(fleet, 'sessions', id),
    /** The kinds of all events so far, with the ids of their missions. */
    told: async (): Promise<string[]> =>
      (await eventsOf(fleet)).map(({ kind, mission_id }) => `${kind} ${mission_id ?? ''}`),
  }
}

/** The same fleet, but something happens right before its first commit with this name. */
export function interrupted(fleet: Fleet, name: string, happens: () => Promise<void>): Fleet {
  let isOver = false
  const commit: Fleet['commit'] = async (each, batch: Batch) => {
    if (each === name && !isOver) {
      isOver = true
      await happens()
    }
    return fleet.commit(each, batch)
  }
  return Object.create(fleet, { commit: { value: commit } })
}

/** A store in memory in which something happens right after a record was read for the first time. */
export function afterReading(collection: Collection, id: string, happens: (store: Store) => Promise<void>): Store {
  const store = memoryStore()
  let isOver = false
  const get: Store['get'] = async (from, which) => {
    const found = await store.get(from, which)
    if (found && from === collection && which === id && !isOver) {
      isOver = true
      await happens(store)
    }
    return found
  }
  const own = (name: keyof Store) => (typeof store[name] === 'function' ? store[name].bind(store) : store[name])
  return new Proxy(store, { get: (_, name) => (name === 'get' ? get : own(name as keyof Store)) })
}

/** A bench with a project in a real repository, whose finished missions have real commits. */
export async function aWorkshop(more: Partial<Project> = {}, files?: Record<string, string>) {
  const bench = aBench()
  const repo = await aRepository({ files })
  onTestFinished(() => repo.remove())
  const project = aProject({ path: repo.path, landing: 'auto', ...more })
  await bench.save('projects', project)

  /** A commit on a branch that nobody has checked out. */
  const commitOn = async (branch: string, from: string, changes: Record<string, string>): Promise<string> => {
    const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`
    const edits = Object.entries(changes).map(([path, text]) => `M 100644 inline ${path}\n${data(text)}`)
    const head = `commit refs/heads/${branch}\ncommitter A Person <person@example.com> 1700000000 +0000\n`
    const input = `${head}${data(`work on ${branch}`)}from ${from}\n${edits.join('')}\n`
    execFileSync('git', ['fast-import', '--quiet'], { cwd: repo.path, input })
    return repo.git('rev-parse', `refs/heads/${branch}`)
  }

  /** A mission whose only session has ended with one commit. */
  const finished = async (
    id: string,
    changes: Record<string, string>,
    {
      from,
      mission = {},
      session = {},
    }: { from?: string; mission?: Partial<Mission>; session?: Partial<Session> } = {},
  ): Promise<string> => {
    const start = from ?? (await repo.tip())
    const branch = `fleet/shell/${id}`
    const commit = await commitOn(branch, start, changes)
    const ended = aSession({
      ...{ id: `s-${id}`, mission_id: id, status: 'ended', outcome: 'completed', worktree: null, worktree_kept: false },
      ...{ branch, start_commit: start, base_tip: start, end_commit: commit, ended_at: NOW },
      ...session,
    })
    const candidate = { commit, session_id: ended.id, at: NOW }
    const work = { status: 'landing' as const, session_id: ended.id, sessions: 1, branch, candidate, landing_at: NOW }
    await bench.save('missions', aMission({ id, title: `mission ${id}`, ...work, ...mission }))
    await bench.save('sessions', ended)
    return commit
  }
  return { ...bench, repo, project, commitOn, finished }
}
