import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Unfit } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { Project } from '../../domain/records/project.ts'
import { toEvict } from '../../domain/rules/warm.ts'
import {
  beginWarm,
  branchTip,
  bytesOf,
  cacheKeyIn,
  canBecomeReady,
  isReusable,
  layAside,
  makeReady,
  moveCachesIn,
  moveIn,
  type Place,
  type Repository,
  readyAt,
  sparseAt,
  throwAway,
  type Warm,
} from '../../git/index.ts'
import { Bound } from '../../git/turns.ts'
import type { Home } from '../../platform/home.ts'
import { usersOf } from '../../runner/processes.ts'
import { freeDisk } from '../dispatch/capacity.ts'
import type { Fleet } from '../fleet.ts'
import { repositoryOf } from '../projects/repositories.ts'

/** A worktree of the pool. */
interface Entry extends Warm {
  project: string
  sparse: readonly string[]
  /** When it was last used. */
  since: string
  bytes: number
  state: (typeof STATES)[number]
  /** Somebody waits for nothing before it: it is being cleaned or made right now. */
  isUnderWay: boolean
  /** It was thrown away while it waited to be made. */
  isDropped: boolean
  /** Resolves once it is ready; false: it never will be, and is in the trash. */
  isReady: Promise<boolean>
}

type Unready = Pick<Entry, 'sparse'> & { state: 'being cleaned' | 'being made' }

export type WarmWorktree = Pick<Entry, 'folder' | 'project' | 'since' | 'bytes' | 'state'>

const STATES = ['ready', 'being cleaned', 'being made'] as const

const pools = new WeakMap<Home, WarmPool>()

/** The warm worktrees of a home. Only the daemon uses them. */
export function poolOf(fleet: Fleet): WarmPool {
  const known = pools.get(fleet.home) ?? new WarmPool(fleet)
  pools.set(fleet.home, known)
  return known
}

/**
 * Worktrees that are kept after their mission for the next one. Each has one owner at any moment: this pool, or the
 * place it was moved to. On disk, an entry counts only from when it is ready until it is taken.
 */
export class WarmPool {
  readonly #fleet: Fleet
  readonly #entries: Entry[] = []
  /** Few at a time, because starts want the disk too. A long making never holds back a short cleaning. */
  readonly #work = { 'being cleaned': new Bound(2), 'being made': new Bound(1) }
  readonly #keys = new Map<string, string>()
  /** Names of this server's own folders begin with it: they have no entry before they are begun and once they are taken. */
  readonly #server = newId()
  /** Names of folders of earlier servers that were looked at. */
  readonly #seen = new Set<string>()
  onFault: (what: string, error: unknown) => void = () => {}

  constructor(fleet: Fleet) {
    this.#fleet = fleet
  }

  get list(): readonly WarmWorktree[] {
    return this.#entries
  }

  /** Whether one waits for a project, or will in a moment, with the caches that the next start will want. */
  has(project: Project, sparse: readonly string[]): boolean {
    const wanted = project.warm.length ? this.#keys.get(project.id) : undefined
    return this.#of(project, sparse).some(
      ({ state, folder }) => state !== 'being made' && (wanted === undefined || cacheKeyIn(folder) === wanted),
    )
  }

  /** The key of the caches that the newest start of a project wanted. The next one will want the same. */
  expects(project: Project, key: string): void {
    this.#keys.set(project.id, key)
  }

  /** Resolves when nothing is being cleaned or made. */
  async settled(): Promise<void> {
    await Promise.all(this.#entries.map(entry => entry.isReady))
  }

  /** Takes stock of what an earlier server left for a project. */
  async adopt(project: Project): Promise<void> {
    const { warm, trash } = this.#fleet.home
    const repository = await repositoryOf(project)
    for (const name of foldersIn(join(warm, project.id))) {
      const folder = join(warm, project.id, name)
      if (name.startsWith(`${this.#server}-`) || this.#seen.has(name)) continue
      this.#seen.add(name)
      const ready = readyAt(folder)
      const isOurs = ready?.commonDir === repository.commonDir
      const since = ready?.since ?? this.#fleet.now()
      if (ready && isOurs) this.#add(project, folder, { sparse: ready.sparse, since, state: 'ready' })
      else if (!ready && canBecomeReady(folder) && sparseAt(folder))
        this.#clean(project, repository, folder, sparseAt(folder)!)
      else await throwAway(folder, trash)
    }
    await this.evict()
  }

  /** What nobody will ask for: folders of projects that are gone. */
  async dropUnknown(known: ReadonlySet<string>): Promise<void> {
    for (const name of foldersIn(this.#fleet.home.warm)) if (!known.has(name)) await this.drop(name)
  }

  /** Whether a place can be kept when its work is done. It may take a moment, so look for work after it, not before. */
  async wants(place: Place, project: Project): Promise<boolean> {
    const { settings } = this.#fleet
    // Caches are worth it however small the rest is.
    const fewest = project.warm.length ? 1 : settings.warmFrom
    if (!settings.warmDisk || !(await isReusable(place, fewest))) return false
    return isLeft(place.worktree)
  }

  /** Keeps the worktree of a place whose work is done. False: it is to be removed. */
  async keep(place: Place, project: Project): Promise<boolean> {
    const { home } = this.#fleet
    // Asked again, because somebody may have come since.
    if (usersOf(place.worktree)?.length !== 0) return false
    const folder = join(home.warm, project.id, this.#newName())
    try {
      await layAside(place, { folder, trash: home.trash })
    } catch (error) {
      this.onFault(`keeping the worktree ${place.worktree}`, error)
      await throwAway(folder, home.trash).catch(() => {})
      return false
    }
    this.#clean(project, await repositoryOf(project), folder, place.record.sparse)
    return true
  }

  /** Makes new ones, until this many wait for the project. */
  async prepare(project: Project, count: number): Promise<void> {
    const repository = await repositoryOf(project)
    const { warm, trash } = this.#fleet.home
    for (let have = this.#of(project, project.sparse).length; have < count; have++) {
      const folder = join(warm, project.id, this.#newName())
      this.#readied(project, folder, { sparse: project.sparse, state: 'being made' }, async () => {
        const commit = await this.#baseOf(project, repository)
        await beginWarm(repository, { folder, trash }, commit, [...project.sparse])
        await this.#makeReady(project, repository, folder, project.sparse)
      })
    }
  }

  /**
   * Moves a warm worktree to a place that is being made; false: there is none. One that is nearly ready is waited for:
   * that takes no longer than making a new one.
   */
  async moveTo(place: Place, project: Project): Promise<boolean> {
    for (let entry = this.#next(place, project); entry; entry = this.#next(place, project)) {
      if (!(await entry.isReady)) continue
      try {
        if (await moveIn(entry, place)) {
          this.#taken.set(place.worktree, entry)
          return true
        }
        await throwAway(entry.folder, entry.trash)
      } catch (error) {
        this.onFault(`using the warm worktree ${entry.folder}`, error)
        await throwAway(entry.folder, entry.trash).catch(() => {})
      }
    }
    return false
  }

  readonly #taken = new Map<string, Warm>()

  /** Gives a place the caches of the worktree that was moved to it. */
  async bringCaches(place: Place, project: Project): Promise<void> {
    const entry = this.#taken.get(place.worktree)
    if (!entry) return
    this.#taken.delete(place.worktree)
    // Without caches the setup command runs. No start fails because of them.
    await moveCachesIn(entry, place, project.warm).catch(error =>
      this.onFault(`moving caches to ${place.worktree}`, error),
    )
  }

  /** Drops the caches that came with a worktree if no place had them, because it could not be made. */
  async dropCaches(worktree: string): Promise<void> {
    const entry = this.#taken.get(worktree)
    this.#taken.delete(worktree)
    if (!entry) return
    await throwAway(entry.folder, entry.trash).catch(error => this.onFault(`removing ${entry.folder}`, error))
  }

  /** Drops every warm worktree, or those of one project. */
  async drop(project?: string): Promise<void> {
    for (const entry of this.#entries.filter(each => project === undefined || each.project === project))
      await this.#discard(entry)
    const { warm, trash } = this.#fleet.home
    for (const name of foldersIn(warm))
      if (project === undefined || name === project) await throwAway(join(warm, name), trash)
  }

  /** Keeps to the disk budget: the longest unused go first. */
  async evict(): Promise<void> {
    const { settings } = this.#fleet
    const idle = this.#entries.filter(entry => entry.state === 'ready')
    const limits = { budget: settings.warmDisk, free: freeDisk(this.#fleet), keepFree: 2 * settings.minFreeDisk }
    for (const entry of toEvict(idle, limits, this.#fleet.now())) await this.#discard(entry)
  }

  #newName(): string {
    return `${this.#server}-${newId()}`
  }

  #of(project: Project, sparse: readonly string[]): Entry[] {
    return this.#entries.filter(
      entry => entry.project === project.id && JSON.stringify(entry.sparse) === JSON.stringify(sparse),
    )
  }

  /** The one to take next, which leaves the pool by that: the one that is ready first, and of those the last used. */
  #next(place: Place, project: Project): Entry | undefined {
    // To wait for others before it would take longer than to make a new one.
    const fitting = this.#of(project, place.record.sparse).filter(
      ({ state, isUnderWay }) => state === 'ready' || isUnderWay,
    )
    const best = Math.min(...fitting.map(entry => this.#rank(entry, project)))
    const entry = fitting.findLast(each => this.#rank(each, project) === best)
    if (entry) this.#entries.splice(this.#entries.indexOf(entry), 1)
    return entry
  }

  /** To wait for caches is quicker than to make them. */
  #rank({ state, folder }: Entry, project: Project): number {
    const key = project.warm.length ? cacheKeyIn(folder) : undefined
    const caches = key === undefined ? 2 : key === this.#keys.get(project.id) ? 0 : 1
    return (state === 'being made' ? 2 : caches) * STATES.length + STATES.indexOf(state)
  }

  #clean(project: Project, repository: Repository, folder: string, sparse: readonly string[]): void {
    this.#readied(project, folder, { sparse, state: 'being cleaned' }, () =>
      this.#makeReady(project, repository, folder, sparse),
    )
  }

  async #makeReady(project: Project, repository: Repository, folder: string, sparse: readonly string[]): Promise<void> {
    const commit = await this.#baseOf(project, repository)
    const { trash } = this.#fleet.home
    await makeReady(repository, { folder, trash }, { commit, sparse: [...sparse], now: this.#fleet.now() })
  }

  async #baseOf(project: Project, repository: Repository): Promise<string> {
    return (await branchTip(repository, project.base_branch)) ?? 'HEAD'
  }

  #readied(project: Project, folder: string, of: Unready, work: () => Promise<void>): void {
    const run = async () => {
      if (entry.isDropped) throw new Unfit('It was removed before it was made.')
      entry.isUnderWay = true
      await work()
      if (entry.isDropped) throw new Unfit('It was removed while it was made.')
    }
    const isReady = this.#work[of.state]
      .run(() => Promise.resolve().then(run))
      .then(
        () => {
          entry.state = 'ready'
          void this.#measure(entry)
          return true
        },
        async error => {
          if (!entry.isDropped) this.onFault(`preparing a worktree of ${project.name}`, error)
          await this.#discard(entry)
          return false
        },
      )
    const entry = this.#add(project, folder, { ...of, since: this.#fleet.now(), isReady })
  }

  #add(
    project: Project,
    folder: string,
    of: Pick<Entry, 'sparse' | 'since' | 'state'> & Partial<Pick<Entry, 'isReady'>>,
  ): Entry {
    const entry: Entry = {
      ...{ folder, trash: this.#fleet.home.trash, project: project.id, bytes: 0, isReady: Promise.resolve(true) },
      ...{ isUnderWay: false, isDropped: false },
      ...of,
    }
    this.#entries.push(entry)
    if (entry.state === 'ready') void this.#measure(entry)
    return entry
  }

  async #measure(entry: Entry): Promise<void> {
    try {
      entry.bytes = (await bytesOf([entry.folder]))?.get(entry.folder) ?? 0
      await this.evict()
    } catch (error) {
      this.onFault(`measuring ${entry.folder}`, error)
    }
  }

  async #discard(entry: Entry): Promise<void> {
    entry.isDropped = true
    const at = this.#entries.indexOf(entry)
    if (at >= 0) this.#entries.splice(at, 1)
    await throwAway(entry.folder, entry.trash).catch(error => this.onFault(`removing ${entry.folder}`, error))
  }
}

/**
 * Whether nobody has anything in a worktree open. A process that is still there could write to it, wherever it is moved.
 * Programs of ours look through worktrees too, so it is asked again for a while. Other systems do not tell.
 */
async function isLeft(worktree: string): Promise<boolean> {
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const users = usersOf(worktree)
    if (!users?.length) return users !== undefined
    await pause(LOOK_EVERY_MS, undefined, { ref: false })
  }
  return false
}
const MOST_LOOKS = 15
const LOOK_EVERY_MS = 200

function foldersIn(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
