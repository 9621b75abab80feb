import { Forbidden } from '../../domain/errors.ts'
import type { AuditEntry } from '../../domain/records/audit.ts'
import type { Event } from '../../domain/records/event.ts'
import type { Counts } from '../../domain/records/fleet.ts'
import type {
  Batch,
  Collection,
  EventPage,
  EventQuery,
  Page,
  Query,
  RecordOf,
  Store,
  Stored,
} from '../../store/index.ts'
import type { Seal } from './sealing.ts'

/** Which part of a collection somebody sees who may see some projects only. */
type Sight = 'project' | 'all' | 'none'

const SIGHT: Readonly<Record<Collection, Sight>> = {
  projects: 'project',
  missions: 'project',
  sessions: 'project',
  reports: 'project',
  comments: 'project',
  evidence: 'project',
  messages: 'project',
  questions: 'project',
  approval_rules: 'project',
  workflows: 'project',
  schedules: 'project',
  processes: 'project',
  check_runs: 'project',
  plans: 'project',
  loops: 'project',
  teams: 'project',
  members: 'project',
  swarms: 'project',
  posts: 'project',
  checkpoints: 'project',
  reservations: 'project',
  spawns: 'project',
  mail: 'project',
  deliveries: 'project',
  spending: 'project',
  counts: 'project',
  faults: 'project',
  audit: 'project',
  // Everybody in the fleet shares these.
  plugins: 'all',
  templates: 'all',
  providers: 'all',
  fleet: 'all',
  // Found only by an id that is made from the name of whoever asked.
  receipts: 'all',
  lease: 'none',
  migrations: 'none',
  devices: 'none',
  notification_settings: 'none',
  notifications: 'none',
  principals: 'none',
  tokens: 'none',
}

/** What the members of a team have among themselves. Whoever speaks in one team sees those of no other. */
const OF_TEAMS: ReadonlySet<Collection> = new Set([
  ...(['teams', 'members', 'swarms', 'posts', 'checkpoints'] as const),
  ...(['reservations', 'spawns', 'mail', 'deliveries'] as const),
])

/** An entry of the audit log does not say which team it is about. */
const isOfTeams = (touched: string): boolean => OF_TEAMS.has(touched.split('/')[0] as Collection)

/** Where somebody sees anything: some projects, and in some of them only these teams. */
export interface Place {
  projects: ReadonlySet<string>
  teams: ReadonlyMap<string, ReadonlySet<string>>
}

/** What the fleet tells everybody. All other events without a project are about the whole fleet or about people. */
const TOLD_TO_ALL: ReadonlySet<Event['kind']> = new Set(['paused', 'unpaused'])

/** One call reads at most this many pages. A page may be short then, and its cursor continues. */
const MOST_PAGES = 100

/** A store in which the records and events of other projects, and of other teams, do not exist. */
export class ScopedStore implements Store {
  readonly #whole: Store
  readonly #projects: ReadonlySet<string>
  readonly #teams: Place['teams']
  readonly #seal: () => Promise<Seal>
  readonly unreadable: ReadonlySet<string> = new Set()

  constructor(whole: Store, { projects, teams }: Place, seal: () => Promise<Seal>) {
    this.#whole = whole
    this.#projects = projects
    this.#teams = teams
    this.#seal = seal
  }

  get engine(): string {
    return this.#whole.engine
  }

  get listsLag(): boolean {
    return this.#whole.listsLag
  }

  async get<C extends Collection>(collection: C, id: string): Promise<Stored<RecordOf<C>> | undefined> {
    if (SIGHT[collection] === 'none') return undefined
    const stored = await this.#whole.get(collection, id)
    return stored && this.#shown(collection, stored)
  }

  async find<C extends Collection>(collection: C, query: Query): Promise<Page<RecordOf<C>>> {
    if (SIGHT[collection] === 'none') return { items: [] }
    const seal = await this.#seal()
    const items: Stored<RecordOf<C>>[] = []
    let cursor = query.cursor === undefined ? undefined : seal.open(query.cursor)
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      // Never more than are missing, so that the cursor is right after the last one.
      const page = await this.#whole.find(collection, { ...query, cursor, limit: query.limit - items.length })
      const shown = await Promise.all(page.items.map(item => this.#shown(collection, item)))
      items.push(...shown.filter(item => item !== undefined))
      cursor = page.cursor
      if (cursor === undefined || items.length >= query.limit) break
    }
    return { items, ...(cursor !== undefined && { cursor: seal.close(cursor) }) }
  }

  async commit(batch: Batch): Promise<void> {
    this.requireOwn(batch)
    await this.#whole.commit(batch)
  }

  /** What is read decides what can be written. This catches what was not read. */
  requireOwn({ changes }: Batch): void {
    for (const change of changes)
      if ('put' in change && SIGHT[change.put] === 'project' && !this.#isOwn(change.put, change.value))
        throw new Forbidden('This would change something in another project or team.')
  }

  async events(query: EventQuery): Promise<EventPage> {
    const seal = await this.#seal()
    const opened = {
      ...query,
      ...(query.after !== undefined && { after: seal.open(query.after) }),
      ...(query.before !== undefined && { before: seal.open(query.before) }),
    }
    const page = query.newest ? await this.#newest(opened) : await this.#following(opened)
    const events = page.events.map(event => ({ ...event, cursor: seal.close(event.cursor) }))
    return { ...page, events, cursor: seal.close(page.cursor) }
  }

  async #following(query: EventQuery): Promise<EventPage> {
    const events: Event[] = []
    let { after } = query
    let reset = false
    for (let pages = 1; ; pages++) {
      const limit = query.limit - events.length
      const page = await this.#whole.events({ ...query, after, limit })
      events.push(...page.events.filter(event => this.#isTold(event)))
      reset ||= page.reset
      after = page.cursor
      if (page.events.length < limit || events.length >= query.limit || pages >= MOST_PAGES)
        return { events, cursor: after, reset }
    }
  }

  async #newest(query: EventQuery): Promise<EventPage> {
    const first = await this.#whole.events(query)
    let { events: read } = first
    let events = read.filter(event => this.#isTold(event))
    for (let pages = 1; pages < MOST_PAGES && read.length === query.limit && events.length < query.limit; pages++) {
      const before = read[0]!.cursor
      read = (await this.#whole.events({ ...query, before })).events
      events = [...read.filter(event => this.#isTold(event)), ...events]
    }
    return { ...first, events: events.slice(-query.limit) }
  }

  async tail(): Promise<string> {
    return (await this.#seal()).close(await this.#whole.tail())
  }

  async trimEvents(): Promise<void> {
    throw new Forbidden('Events are dropped by the fleet itself.')
  }

  watch(hint: () => void): () => void {
    return this.#whole.watch(hint)
  }

  /** The whole store stays open. */
  async close(): Promise<void> {}

  #isTold({ project_id, kind, data: { team } }: Event): boolean {
    if (project_id === null) return TOLD_TO_ALL.has(kind)
    return this.#projects.has(project_id) && (team === undefined || this.#isOwnTeam(project_id, team))
  }

  #isOwnTeam(project: string, team: unknown): boolean {
    return this.#teams.get(project)?.has(team as string) ?? true
  }

  async #shown<C extends Collection>(
    collection: C,
    stored: Stored<RecordOf<C>>,
  ): Promise<Stored<RecordOf<C>> | undefined> {
    if (SIGHT[collection] === 'all') return stored
    if (collection === 'counts')
      return { ...stored, value: (await this.#counted(stored.value as Counts)) as RecordOf<C> }
    if (collection === 'faults') return (await this.#isFaultShown(stored.value)) ? stored : undefined
    return this.#isOwn(collection, stored.value) ? stored : undefined
  }

  #isOwn(collection: Collection, value: object): boolean {
    if (collection === 'faults' || collection === 'counts') return false
    const { id, project_id = '', team_id } = value as { id: string; project_id?: string; team_id?: string }
    if (collection === 'audit' && this.#teams.has(project_id) && (value as AuditEntry).touched.some(isOfTeams))
      return false
    if (OF_TEAMS.has(collection) && !this.#isOwnTeam(project_id, collection === 'teams' ? id : team_id)) return false
    return this.#projects.has(collection === 'projects' ? id : project_id)
  }

  async #counted(counts: Counts): Promise<Counts> {
    const projects = Object.fromEntries(Object.entries(counts.projects).filter(([id]) => this.#projects.has(id)))
    const sums: Record<string, number> = {}
    for (const tally of Object.values(projects))
      for (const [status, count] of Object.entries(tally)) sums[status] = (sums[status] ?? 0) + count
    const cursor = counts.cursor && (await this.#seal()).close(counts.cursor)
    // Of all projects together.
    return { ...counts, projects, counts: sums, totals: null, cursor }
  }

  /** A fault is shown to whoever sees the record that it is about. */
  async #isFaultShown(fault: object): Promise<boolean> {
    const [collection = '', id = ''] = ((fault as { record?: string | null }).record ?? '').split('/')
    if (SIGHT[collection as Collection] !== 'project' || collection === 'faults' || collection === 'counts')
      return false
    return (await this.get(collection as Collection, id)) !== undefined
  }
}
