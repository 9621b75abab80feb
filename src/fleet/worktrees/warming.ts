import { join } from 'node:path'
import { NotAllowed } from '../../domain/errors.ts'
import type { Event } from '../../domain/records/event.ts'
import type { Project } from '../../domain/records/project.ts'
import { sparesFor } from '../../domain/rules/warm.ts'
import { emptyTrash, entriesIn, isCheckingOut, type Place } from '../../git/index.ts'
import { liveSessions } from '../dispatch/capacity.ts'
import type { Fleet } from '../fleet.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { type Desk, idIn, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all } from '../records.ts'
import { poolOf } from './pool.ts'
import { tidyFinished } from './tidying.ts'

const CHORES_MS = 3_600_000
const NEW_MS = 3_600_000
const QUIET_MS = 3000
/** Events after which a project may need another one, or none. */
const MOVED: readonly Event['kind'][] = ['project_created', 'project_updated', 'project_deleted', 'session_running']

/** Whether a project's worktrees are worth keeping: they have caches, or are large. Its own checkout tells. */
async function isWorthIt({ settings }: Fleet, project: Project): Promise<boolean> {
  if (!settings.warmDisk || project.worktree === 'none' || project.isolation === 'linked') return false
  const { bare, gitDir } = await repositoryOf(project)
  if (project.warm.length) return true
  return !bare && (entriesIn(join(gitDir, 'index')) ?? 0) >= settings.warmFrom
}

/** Moves a warm worktree to a place that is being made; false: there is none. */
export async function warmUp(fleet: Fleet, project: Project, place: Place): Promise<boolean> {
  const pool = poolOf(fleet)
  // A mission that is over may still have its worktree, because cleaning up waits a moment.
  if (!pool.has(project, place.record.sparse) && (await isWorthIt(fleet, project)))
    await tidyFinished(fleet, project).catch(error => pool.onFault(`tidying up in ${project.name}`, error))
  return pool.moveTo(place, project)
}

/** A person wants worktrees to be prepared ahead. */
export async function warmProject(
  fleet: Fleet,
  project: Project,
  count: number,
): Promise<{ ready: number; preparing: number }> {
  if (project.worktree === 'none' || project.isolation === 'linked')
    throw new NotAllowed(`${project.name} has no worktrees of its own to prepare.`, {
      try: project.isolation === 'linked' ? `fleet project set ${project.id} --isolation private` : undefined,
    })
  if (!fleet.settings.warmDisk)
    throw new NotAllowed('No disk is set aside for warm worktrees.', { try: 'fleet config set warm_disk=20GB' })
  const pool = poolOf(fleet)
  await pool.prepare(project, count)
  const own = pool.list.filter(entry => entry.project === project.id)
  const ready = own.filter(({ state }) => state === 'ready').length
  return { ready, preparing: own.length - ready }
}

/** Keeps worktrees warm for the next mission of their project, and empties the trash. */
export class Warming implements Reactor {
  readonly name = 'warm'
  readonly isPatient = true
  readonly #fleet: Fleet
  readonly #desk: Desk
  readonly #onFault: (what: string, error: unknown) => void
  #emptying: Promise<void> | undefined

  constructor(fleet: Fleet, desk: Desk, onFault: (what: string, error: unknown) => void) {
    this.#fleet = fleet
    this.#desk = desk
    this.#onFault = onFault
    poolOf(fleet).onFault = onFault
  }

  async *unfinished(): AsyncGenerator<Ref> {
    const known = new Set<string>()
    for await (const { value } of all(this.#fleet, 'projects', 'created')) {
      known.add(value.id)
      yield refTo('projects', value.id)
    }
    await poolOf(this.#fleet).dropUnknown(known)
  }

  affectedBy({ kind, project_id }: Event): Ref[] {
    return project_id && MOVED.includes(kind) ? [refTo('projects', project_id)] : []
  }

  async look(ref: Ref): Promise<void> {
    const pool = poolOf(this.#fleet)
    const project = (await this.#fleet.store.get('projects', idIn(ref)))?.value
    if (!project || project.deleting) return pool.drop(idIn(ref))
    if (project.worktree === 'none' || project.isolation === 'linked') return pool.drop(project.id)
    await pool.adopt(project)
    if (!(await isWorthIt(this.#fleet, project))) return
    const live = (await liveSessions(this.#fleet)).filter(({ project_id }) => project_id === project.id)
    const isUsed = live.length > 0 || (await this.#awaitsFirst(project))
    const sinceStart = Math.min(...live.map(({ created_at }) => Date.parse(this.#fleet.now()) - Date.parse(created_at)))
    // The agent that was just started has the disk to itself, and a worktree that was just returned may be enough.
    if (sinceStart < QUIET_MS) this.#desk.lookIn(QUIET_MS, ref)
    else if (isUsed) await pool.prepare(project, sparesFor(live.length))
  }

  /** Whether a project was just added and has not been used yet. */
  async #awaitsFirst(project: Project): Promise<boolean> {
    if (Date.parse(this.#fleet.now()) - Date.parse(project.created_at) > NEW_MS) return false
    const { items } = await this.#fleet.store.find('sessions', { index: 'project', equals: [project.id], limit: 1 })
    return items.length === 0
  }

  async pass(): Promise<void> {
    this.#emptying ??= this.#empty().finally(() => {
      this.#emptying = undefined
    })
    await poolOf(this.#fleet).evict()
    this.#desk.passIn(CHORES_MS)
  }

  async #empty(): Promise<void> {
    const { signal } = this.#desk
    const stuck = await emptyTrash(this.#fleet.home.trash, { signal, isBusy: isCheckingOut })
    for (const { path, why } of stuck) this.#onFault(`removing ${path}`, new Error(why))
  }
}
