import type { Event, NewEvent } from '../domain/records/event.ts'
import { type Fault, pauseAfter } from '../domain/records/fault.ts'
import { clipped, MAX_CAUSE_CHARS, MAX_REASON_CHARS } from '../domain/text.ts'
import { type Fleet, retryOnConflict } from '../fleet/fleet.ts'
import type { Desk, Reactor, Ref } from '../fleet/reactor.ts'
import { all, derivedId, fleetState, ownRecord, put } from '../fleet/records.ts'
import { sentence } from '../fleet/sentences.ts'
import { type Change, Unavailable } from '../store/index.ts'

/** With more waiting events than this, looking at everything is less work. */
const MOST_EVENTS = 5000

const STOP_MS = 5000
/** The clock may jump forward: no timer sleeps longer than this. */
const LONGEST_NAP_MS = 30_000
/** After the store gave no answer, everything is looked at again, first after this long. */
const FIRST_STOCK_MS = 100

/** A record, or the work of a reactor as a whole. */
type What = Ref | 'everything' | 'pass' | 'tick'

interface Known {
  since: string
  tries: number
  timer?: NodeJS.Timeout
  /** A person waits for the outcome of the next try. */
  asked?: true
}

/** A fault that was resolved this recently may return: its pauses keep growing. */
const FORGET_AFTER_MS = 120_000

export type OnFault = (what: string, error: unknown) => void

/** One reactor and the work it still has to look at. It works independently of the others. */
export class Driven implements Desk {
  readonly #fleet: Fleet
  readonly #reactor: Reactor
  readonly #stopped = new AbortController()
  readonly #onFault: OnFault
  /** Called when the store gave no answer: something may be written that others have to look at. */
  readonly #onDoubt: () => void
  readonly #events: Event[] = []
  readonly #due = new Set<Ref>()
  readonly #faults = new Map<What, Known>()
  readonly #mendedLately = new Map<What, { tries: number; at: number }>()
  readonly #background = new Set<Promise<unknown>>()
  /** How much work goes on about a record after the look that began it. */
  readonly #open = new Map<What, number>()
  readonly #timers = new Set<NodeJS.Timeout>()
  #everything = true
  #isRemembered = false
  #pass = true
  #passAt = Number.POSITIVE_INFINITY
  #passTimer: NodeJS.Timeout | undefined
  #working: Promise<void> | null = null
  #ticking = false
  #passInDoubt: Unavailable | undefined
  /** How often in a row the store gave no answer. */
  #silences = 0

  constructor(fleet: Fleet, make: (desk: Desk) => Reactor, onFault: OnFault, onDoubt: () => void = () => {}) {
    this.#fleet = fleet
    this.#onFault = onFault
    this.#onDoubt = onDoubt
    this.#reactor = make(this)
  }

  get name(): string {
    return this.#reactor.name
  }

  get isPatient(): boolean {
    return this.#reactor.isPatient ?? false
  }

  get signal(): AbortSignal {
    return this.#stopped.signal
  }

  /** After a start: looks again at its earlier faults, and at everything unfinished. */
  async start(): Promise<void> {
    await this.#go()
  }

  async #remember(): Promise<void> {
    for await (const { value } of all(this.#fleet, 'faults', 'reactor', [this.name])) {
      // Every server tries the work as a whole again.
      if (!value.record) await this.#clear(value.id)
      else {
        this.#faults.set(value.record as Ref, { since: value.since, tries: value.tries })
        this.#due.add(value.record as Ref)
      }
    }
  }

  hear(events: readonly Event[]): void {
    if (this.#events.length + events.length > MOST_EVENTS) this.missed()
    else {
      this.#events.push(...events)
      this.wake()
    }
  }

  /** Events were dropped before they were read. */
  missed(): void {
    this.#events.length = 0
    this.#everything = true
    this.wake()
  }

  wake(): void {
    this.#pass = true
    this.#go()
  }

  async tick(): Promise<void> {
    if (!this.#reactor.tick || this.#ticking || this.#rests('tick')) return
    this.#ticking = true
    await this.#guard('tick', () => this.#reactor.tick!())
    this.#ticking = false
  }

  /** A person asked for it: try everything that was set aside now. */
  retry(): void {
    for (const [what, known] of this.#faults) {
      known.asked = true
      this.#again(what)
    }
    this.#go()
  }

  goOn(ref: Ref, work: Promise<unknown>): void {
    this.#open.set(ref, (this.#open.get(ref) ?? 0) + 1)
    const known = this.#faults.get(ref)
    // Work that outlives the pause after its fault is well under way.
    if (known) this.#later(pauseAfter(known.tries), () => this.#faults.get(ref) === known && void this.#mended(ref))
    const toItsEnd = (): Promise<unknown> => work.finally(() => this.#closed(ref))
    const guarded: Promise<unknown> = this.#guard(ref, toItsEnd).finally(() => this.#background.delete(guarded))
    this.#background.add(guarded)
  }

  #closed(ref: Ref): void {
    const left = (this.#open.get(ref) ?? 1) - 1
    if (left) this.#open.set(ref, left)
    else this.#open.delete(ref)
  }

  async attempt(ref: Ref, work: () => Promise<void>): Promise<void> {
    if (this.#rests(ref)) return
    await this.#guard(ref, async () => {
      try {
        await work()
      } catch (error) {
        // The rest of the pass rests on what this one did, and that is unknown now.
        if (error instanceof Unavailable) this.#passInDoubt = error
        throw error
      }
    })
    const doubt = this.#passInDoubt
    this.#passInDoubt = undefined
    if (doubt) throw doubt
  }

  lookIn(ms: number, ref: Ref): void {
    this.#later(ms, () => {
      this.#due.add(ref)
      this.#go()
    })
  }

  /** The earliest requested time wins. */
  passIn(ms: number): void {
    const at = performance.now() + Math.max(1, Math.min(ms, LONGEST_NAP_MS))
    if (at >= this.#passAt || this.signal.aborted) return
    clearTimeout(this.#passTimer)
    this.#passAt = at
    this.#passTimer = setTimeout(() => {
      this.#passAt = Number.POSITIVE_INFINITY
      this.wake()
    }, at - performance.now()).unref()
  }

  async stop(): Promise<void> {
    this.#stopped.abort()
    clearTimeout(this.#passTimer)
    for (const timer of this.#timers) clearTimeout(timer)
    this.#reactor.stop?.()
    // A reactor that hangs must not keep the server from stopping.
    await Promise.race([this.#working, new Promise(resolve => setTimeout(resolve, STOP_MS).unref())])
  }

  get isSettled(): boolean {
    return !this.#working && !this.#background.size && !this.#ticking
  }

  async settled(): Promise<void> {
    await Promise.allSettled([this.#working, ...this.#background])
  }

  #go(): Promise<void> {
    if (this.signal.aborted) return Promise.resolve()
    this.#working ??= this.#work().finally(() => {
      this.#working = null
      // Work may have come after the last look and before this moment.
      if (this.#hasWork) this.#go()
    })
    return this.#working
  }

  get #hasWork(): boolean {
    return this.#everything || this.#pass || this.#events.length > 0 || this.#due.size > 0
  }

  async #work(): Promise<void> {
    const silences = this.#silences
    while (!this.signal.aborted) {
      const event = this.#everything ? undefined : this.#events.shift()
      const [ref] = this.#due
      if (this.#everything) {
        this.#everything = false
        await this.#guard('everything', () => this.#takeStock())
      } else if (event) await this.#guard('everything', () => this.#take(event))
      else if (ref) {
        this.#due.delete(ref)
        if (!this.#rests(ref)) await this.#guard(ref, () => this.#reactor.look(ref))
      } else if (this.#pass) {
        this.#pass = false
        if (!this.#rests('pass')) await this.#guard('pass', async () => this.#reactor.pass?.())
      } else {
        if (this.#silences === silences) this.#silences = 0
        return
      }
    }
  }

  async #takeStock(): Promise<void> {
    if (!this.#isRemembered) await this.#remember()
    this.#isRemembered = true
    for await (const ref of this.#reactor.unfinished()) this.#due.add(ref)
  }

  async #take(event: Event): Promise<void> {
    for (const ref of await this.#reactor.affectedBy(event)) {
      // The record has changed, perhaps what made it fail: try it again at once.
      this.#again(ref)
      this.#due.add(ref)
    }
  }

  /** What failed is left alone until its pause is over. */
  #rests = (what: What): boolean => this.#faults.get(what)?.timer !== undefined

  async #guard(what: What, work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
      // While work on the record goes on, the end of that work decides.
      if (this.#faults.has(what) && !this.#open.has(what)) await this.#mended(what)
    } catch (error) {
      if (this.signal.aborted) return
      if (error instanceof Unavailable) this.#inDoubt(what, error)
      else await this.#failed(what, error)
    }
  }

  /**
   * This is no fault of the record: once the store answers again, it shows what was written, and a look does the rest.
   */
  #inDoubt(what: What, error: Unavailable): void {
    this.#onFault(`${this.name}, ${what}`, error)
    const pause = Math.min(FIRST_STOCK_MS * 2 ** this.#silences++, LONGEST_NAP_MS)
    this.#later(pause * (0.5 + Math.random() / 2), () => {
      if (what.includes('/')) this.#due.add(what as Ref)
      this.missed()
      this.#onDoubt()
    })
  }

  async #failed(what: What, error: unknown): Promise<void> {
    this.#onFault(`${this.name}, ${what}`, error)
    const known = this.#faults.get(what)
    clearTimeout(known?.timer)
    const tries = (known?.tries ?? this.#triesLately(what)) + 1
    const pause = pauseAfter(tries)
    const now = this.#fleet.now()
    const since = known?.since ?? now
    const timer = setTimeout(() => {
      this.#again(what)
      this.#go()
    }, pause).unref()
    this.#timers.add(timer)
    this.#faults.set(what, { since, tries, timer })
    const next_try_at = new Date(Date.parse(now) + pause).toISOString()
    const reason = clipped(sentence(error), MAX_REASON_CHARS)
    await this.#record({ ...this.#named(what), since, tries, reason, tried_at: now, next_try_at }, known?.asked)
  }

  #again(what: What): void {
    const known = this.#faults.get(what)
    if (!known) return
    clearTimeout(known.timer)
    if (known.timer) this.#timers.delete(known.timer)
    known.timer = undefined
    if (what === 'everything') this.#everything = true
    else if (what === 'pass') this.#pass = true
    else if (what !== 'tick') this.#due.add(what)
  }

  async #mended(what: What): Promise<void> {
    const known = this.#faults.get(what)
    if (!known || known.timer) return
    if (!(await this.#clear(this.#named(what).id))) {
      this.#later(pauseAfter(known.tries), () => {
        this.#again(what)
        this.#go()
      })
      return
    }
    this.#faults.delete(what)
    this.#mendedLately.set(what, { tries: known.tries, at: performance.now() })
  }

  #triesLately(what: What): number {
    for (const [each, { at }] of this.#mendedLately)
      if (performance.now() - at > FORGET_AFTER_MS) this.#mendedLately.delete(each)
    return this.#mendedLately.get(what)?.tries ?? 0
  }

  #named(what: What): Pick<Fault, 'id' | 'reactor' | 'record'> {
    return {
      id: derivedId('fault', this.name, what),
      reactor: this.name,
      record: what.includes('/') ? what : null,
    }
  }

  /** Only the first failure, and a try that a person asked for, make an event. One for every try would be too many. */
  #record(fault: Fault, asked = false): Promise<boolean> {
    return this.#write(async () => {
      const { value: before, expects } = await ownRecord(this.#fleet.store, 'faults', fault.id)
      await this.#fleet.commit('commit.fault', {
        changes: [put('faults', fault, expects), await this.#counted()],
        events: before && !asked ? [] : [this.#told('fault_recorded', fault)],
      })
    })
  }

  #clear(id: string): Promise<boolean> {
    return this.#write(async () => {
      const { value, expects } = await ownRecord(this.#fleet.store, 'faults', id)
      if (expects === 'absent') return
      await this.#fleet.commit('commit.fault', {
        changes: [{ remove: 'faults', id, expects }],
        events: value ? [this.#told('fault_cleared', value)] : [],
      })
    })
  }

  /** The event names no mission: an event of the record itself would lift the pause of its fault. */
  #told(kind: 'fault_recorded' | 'fault_cleared', { reactor, record, reason }: Fault): NewEvent {
    const cause = clipped(reason, MAX_CAUSE_CHARS)
    return { kind, time: this.#fleet.now(), actor: 'fleet', cause, data: { reactor, record } }
  }

  /** On a full disk nothing can be written. Then the fault is in the log, and the next try writes it. */
  async #write(commit: () => Promise<void>): Promise<boolean> {
    try {
      await retryOnConflict(commit)
      return true
    } catch (error) {
      this.#onFault(`${this.name}, recording a fault`, error)
      return false
    }
  }

  async #counted(): Promise<Change> {
    const { value, expects } = await fleetState(this.#fleet)
    const before = value.fault_counts[this.name] ?? 0
    return put('fleet', { ...value, fault_counts: { ...value.fault_counts, [this.name]: before + 1 } }, expects)
  }

  #later(ms: number, act: () => void): void {
    if (this.signal.aborted) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      act()
    }, ms).unref()
    this.#timers.add(timer)
  }
}
