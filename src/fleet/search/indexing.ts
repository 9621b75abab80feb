import type { Event } from '../../domain/records/event.ts'
import type { TextChanges, TextSource } from '../../store/index.ts'
import type { Fleet } from '../fleet.ts'
import { type Desk, idIn, isOf, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all, readable } from '../records.ts'
import { missionSource, sessionFingerprint, sessionSource } from './documents.ts'
import type { SearchIndexing } from './search-indexing.ts'

/** After a start, everything else comes first. */
const START_MS = 3000
/** Events of this time are taken in together. */
const GATHER_MS = 1000
/** How long one round may keep others waiting, and how much longer it then rests. */
const ROUND_MS = 8
const REST_PER_MS = 4
const REST_MS = 25
const PAGE = 500

/** Kinds of events that change no text, and come often. */
const SILENT: ReadonlySet<Event['kind']> = new Set(['usage', 'retrying', 'went_on', 'swept', 'adopted'])

/**
 * Keeps the index of search up to date: a while after something happened, in short rounds with rests between them.
 * What was taken in and where it continues are in the index itself, so a crash loses nothing.
 */
export class Indexing implements Reactor, SearchIndexing {
  readonly name = 'search'
  readonly isPatient = true
  readonly #fleet: Fleet
  readonly #desk: Desk
  readonly #due = new Set<Ref>()
  readonly #gone: TextChanges['gone'][number][] = []
  /** Events may have been missed: read those since the last time. */
  #isBehind = true
  /** Every record, while the index is made for the first time. */
  #everything: AsyncGenerator<Ref> | undefined
  #cursor: string | undefined
  #dueAt = performance.now() + START_MS
  /** Everything from before the start is in it, and all events that were missed. */
  #hasCaughtUp = false
  /** Searches that wait for that. */
  readonly #searches = new Set<() => void>()

  constructor(fleet: Fleet, desk: Desk) {
    this.#fleet = fleet
    this.#desk = desk
  }

  async *unfinished(): AsyncGenerator<Ref> {
    this.#isBehind = true
    this.#hasCaughtUp = false
    yield* []
  }

  affectedBy(event: Event): Ref[] {
    // While it is behind, the event is read again with those before it.
    if (!this.#isBehind) this.#take(event)
    return []
  }

  /** A record that could not be taken in before. */
  async look(ref: Ref): Promise<void> {
    this.#fleet.texts.change(await this.#changesOf(ref))
  }

  async pass(): Promise<void> {
    if (!this.#isBehind && !this.#hasWork) return
    const wait = this.#dueAt - performance.now()
    if (wait > 0) return this.#desk.passIn(wait)
    const began = performance.now()
    try {
      if (this.#isBehind) await this.#catchUp()
      await this.#round(began)
      this.#noticeLoss()
    } finally {
      const took = performance.now() - began
      const rest = this.#searches.size ? 0 : REST_MS + took * REST_PER_MS
      this.#dueAt = performance.now() + (this.#hasWork ? rest : GATHER_MS)
    }
    if (this.#isBehind || this.#hasWork) return this.#desk.passIn(this.#dueAt - performance.now())
    this.#hasCaughtUp = true
    for (const settle of this.#searches) settle()
  }

  catchUp(mostMs: number): Promise<boolean> {
    this.#noticeLoss()
    if (this.#hasCaughtUp) return Promise.resolve(true)
    this.#dueAt = 0
    this.#desk.passIn(0)
    return new Promise(resolve => {
      const settle = () => {
        clearTimeout(timer)
        this.#searches.delete(settle)
        resolve(this.#hasCaughtUp)
      }
      const timer = setTimeout(settle, mostMs)
      this.#searches.add(settle)
    })
  }

  /** It was begun, and is empty now: it was damaged. Everything is taken in again. */
  #noticeLoss(): void {
    if (this.#isBehind || this.#fleet.texts.progress()) return
    this.#isBehind = true
    this.#hasCaughtUp = false
  }

  get #hasWork(): boolean {
    return this.#due.size > 0 || this.#gone.length > 0 || this.#everything !== undefined
  }

  #take({ kind, mission_id, project_id, session_id, cursor }: Event): void {
    this.#cursor = cursor
    if (kind === 'mission_deleted' && mission_id) this.#gone.push({ mission_id })
    else if (kind === 'project_deleted' && project_id) this.#gone.push({ project_id })
    else if (mission_id && !SILENT.has(kind)) this.#due.add(refTo('missions', mission_id))
    if (kind === 'session_ended' && session_id) this.#due.add(refTo('sessions', session_id))
  }

  /** Reads what happened since the last time. If that is unknown, all records are taken in. */
  async #catchUp(): Promise<void> {
    const { store, texts } = this.#fleet
    this.#isBehind = false
    try {
      const known = texts.progress()
      const isKnown = known && (await this.#readSince(known.cursor))
      if (!isKnown) {
        this.#due.clear()
        this.#gone.length = 0
        this.#cursor = await store.tail()
        texts.clear()
        // The cursor is from before the first record is read, so that no later change is missed.
        texts.change({ sources: [], gone: [], progress: { cursor: this.#cursor, complete: false } })
      }
      this.#everything = isKnown && known.complete ? undefined : this.#allRecords()
    } catch (error) {
      this.#isBehind = true
      throw error
    }
  }

  /** Whether all events since the cursor are still there. */
  async #readSince(cursor: string): Promise<boolean> {
    for (let after = cursor; ; ) {
      const page = await this.#fleet.store.events({ after, limit: PAGE })
      if (page.reset) return false
      for (const event of page.events) this.#take(event)
      this.#cursor = after = page.cursor
      if (page.events.length < PAGE) return true
    }
  }

  /** The oldest first, so that later texts come later in the index. */
  async *#allRecords(): AsyncGenerator<Ref> {
    for await (const { value } of all(this.#fleet, 'missions', 'created')) yield refTo('missions', value.id)
    for await (const { value } of all(this.#fleet, 'sessions', 'created')) yield refTo('sessions', value.id)
  }

  /**
   * Takes in as much as fits into a round. What happens while it reads is left to the next round, which begins with what
   * is gone: a text that was read just before its deletion does not stay, and a new one of the same project does.
   */
  async #round(began: number): Promise<void> {
    const { texts } = this.#fleet
    if (this.#gone.length) texts.change({ sources: [], gone: this.#gone })
    this.#gone.length = 0
    const waiting = [...this.#due].values()
    const taken: Ref[] = []
    const sources: TextSource[] = []
    const gone: TextChanges['gone'][number][] = []
    try {
      for (let ref = await this.#next(waiting); ref; ref = await this.#next(waiting)) {
        taken.push(ref)
        await this.#desk.attempt(ref, async () => {
          const changes = await this.#changesOf(ref!)
          sources.push(...changes.sources)
          gone.push(...changes.gone)
        })
        if (this.#desk.signal.aborted) return
        if (performance.now() - began > ROUND_MS) break
      }
      const progress = !this.#hasWork && this.#cursor ? { cursor: this.#cursor, complete: true } : undefined
      texts.change({ sources, gone, progress })
    } catch (error) {
      for (const ref of taken) this.#due.add(ref)
      throw error
    }
  }

  /** No longer due before it is read, so that a change from then on makes it due again. */
  async #next(waiting: Iterator<Ref>): Promise<Ref | undefined> {
    const ref = waiting.next()
    if (!ref.done) {
      this.#due.delete(ref.value)
      return ref.value
    }
    const next = await this.#everything?.next()
    if (next?.done) this.#everything = undefined
    return next?.value
  }

  /** What a record changes in the index: nothing if it is in it as it is. */
  async #changesOf(ref: Ref): Promise<TextChanges> {
    const { texts } = this.#fleet
    const id = idIn(ref)
    if (isOf(ref, 'missions')) {
      const mission = (await readable(this.#fleet, 'missions', id))?.value
      if (!mission || mission.deleting) return { sources: [], gone: [{ mission_id: id }] }
      const source = await missionSource(this.#fleet, mission)
      return { sources: source.fingerprint === texts.fingerprintOf(ref) ? [] : [source], gone: [] }
    }
    const session = (await readable(this.#fleet, 'sessions', id))?.value
    const isIn = session?.status !== 'ended' || texts.fingerprintOf(ref) === sessionFingerprint(session)
    return { sources: isIn ? [] : [await sessionSource(this.#fleet, session)], gone: [] }
  }
}
