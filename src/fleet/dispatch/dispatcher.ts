import type { Mission } from '../../domain/records/mission.ts'
import type { Session } from '../../domain/records/session.ts'
import { effective } from '../../domain/rules/effective.ts'
import * as life from '../../domain/rules/life.ts'
import { isReady, waitsFor } from '../../domain/rules/waiting.ts'
import { type Change, type Check, Conflict, type Stored } from '../../store/index.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { DispatchGate } from '../plugins/gate.ts'
import { all, dependenciesOf, fleetState, put } from '../records.ts'
import { sentence } from '../sentences.ts'
import type { LiveSession } from '../sessions/live-session.ts'
import { type Budget, leftOf, overBudget, ownBudget } from './budgets.ts'
import { defaultsOf, diskIsFull, fullSlot, modelDoubt } from './capacity.ts'
import { holdOn } from './holds.ts'
import { planSession } from './next-session.ts'

const PAGE = 50
const DISK_RETRY_MS = 10_000

/** Starts what may start, in order of priority and age, as far as there is room. Only the holder of the home has one. */
export class Dispatcher {
  readonly #fleet: Fleet
  readonly #live: ReadonlyMap<string, LiveSession>
  readonly #begin: (session: Session) => void
  readonly #wake: () => void
  readonly #gate: DispatchGate
  #timer: NodeJS.Timeout | undefined
  #wakesAt = Infinity

  constructor(
    fleet: Fleet,
    live: ReadonlyMap<string, LiveSession>,
    begin: (session: Session) => void,
    wake: () => void,
    inBackground: (what: string, work: Promise<unknown>) => void,
  ) {
    this.#fleet = fleet
    this.#live = live
    this.#begin = begin
    this.#wake = wake
    this.#gate = new DispatchGate(fleet, inBackground, wake)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  async pass(): Promise<void> {
    if (this.#isFull()) return
    if (diskIsFull(this.#fleet)) return this.#wakeIn(DISK_RETRY_MS)
    // What is paused is asked before the list is read: what was let go meanwhile is for the next pass, with a new list.
    const began = this.#fleet.now()
    const fleetPaused = (await fleetState(this.#fleet)).value.paused
    let cursor: string | undefined
    do {
      const page = await this.#fleet.store.find('missions', { index: 'ready', limit: PAGE, cursor })
      for (const { value } of page.items) {
        await this.#consider(value.id, { began, fleetPaused })
        if (this.#isFull()) return
      }
      cursor = page.cursor
    } while (cursor)
  }

  #isFull = (): boolean => this.#live.size >= this.#fleet.settings.maxConcurrent

  async #consider(id: string, { began, fleetPaused }: { began: string; fleetPaused: boolean }): Promise<void> {
    const stored = await this.#fleet.store.get('missions', id)
    if (stored?.value.status !== 'queued' || !stored.value.ready) return
    const mission = stored.value
    const project = (await this.#fleet.store.get('projects', mission.project_id))?.value
    if (!project || project.deleting) return
    if (project.updated_at >= began) return this.#wakeIn(20)
    const dependencies = await dependenciesOf(this.#fleet, mission)
    if (
      !isReady(
        mission,
        dependencies.map(d => d.value),
      )
    )
      return this.#try(() =>
        this.#fleet.commit('commit.not-ready', {
          changes: [put('missions', life.noLongerReady(mission, this.#by()), stored.version)],
        }),
      )
    const { agent } = effective(mission, project, defaultsOf(this.#fleet))
    const [reason] = waitsFor(mission, {
      dependencies: dependencies.map(d => d.value),
      project,
      now: this.#fleet.now(),
      fleetPaused,
      hold: agent === null ? null : await holdOn(this.#fleet, agent, project),
      full: fullSlot(
        this.#fleet,
        [...this.#live.values()].map(session => session.slot),
        agent ?? '',
        project,
      ),
    })
    if (reason?.until) return this.#wakeIn(Date.parse(reason.until) - Date.parse(this.#fleet.now()))
    if (!reason && this.#gate.lets(stored)) await this.#try(() => this.#start(stored, dependencies))
  }

  async #start(stored: Stored<Mission>, dependencies: Stored<Mission>[]): Promise<void> {
    const mission = stored.value
    const project = (await this.#fleet.store.get('projects', mission.project_id))!.value
    const own = await ownBudget(this.#fleet, mission, project)
    // A budget is the mission's: a retry or a new conversation does not begin it anew.
    if (own && leftOf(own) <= 0) return this.#spent(stored, own)
    let session: Session
    try {
      session = await planSession(this.#fleet, mission, project)
    } catch (error) {
      const why = {
        code: 'dispatch_failed',
        text: sentence(error).slice(0, 4000),
        try: `fleet mission retry ${mission.id}`,
      }
      const { mission: failed, events } = life.failed(mission, why, this.#by())
      return this.#fleet.commit('commit.dispatch-failed', {
        changes: [put('missions', failed, stored.version)],
        events: [life.about(mission, 'dispatch_failed', this.#by(), { cause: why.text }), ...events],
      })
    }
    const step = life.started(mission, session, this.#by())
    const changes: Change[] = [put('missions', step.mission, stored.version), put('sessions', session, 'absent')]
    const checks: Check[] = dependencies.map(d => ({ collection: 'missions', id: d.value.id, expects: d.version }))
    const doubt = modelDoubt(this.#fleet, session.agent, session.model)
    const warning = doubt
      ? [life.about(mission, 'unknown_model', this.#by(), { session_id: session.id, cause: doubt })]
      : []
    await this.#fleet.commit('commit.session-start', { changes, checks, events: [...step.events, ...warning] })
    this.#gate.forget(mission.id)
    this.#begin(session)
  }

  async #spent(stored: Stored<Mission>, own: Budget): Promise<void> {
    const why = { code: 'limit', text: overBudget(own, 0), try: own.try }
    const { mission, events } = life.toPerson(stored.value, why, this.#by(), 'limit_reached')
    await this.#fleet.commit('commit.dispatch-failed', {
      changes: [put('missions', mission, stored.version)],
      events,
    })
  }

  /** Someone else was first: their commit will wake us again. */
  async #try(attempt: () => Promise<void>): Promise<void> {
    try {
      await attempt()
    } catch (error) {
      if (!(error instanceof Conflict)) throw error
      this.#wakeIn(5)
    }
  }

  /** Once something it depends on is done: whoever has nothing left to wait for may start. */
  async release(dependency: string): Promise<void> {
    for await (const { value } of all(this.#fleet, 'missions', 'dependency', [dependency]))
      await this.reconsider(value.id, dependency)
  }

  async reconsider(id: string, on: string): Promise<void> {
    await retryOnConflict(async () => {
      const stored = await this.#fleet.store.get('missions', id)
      if (stored?.value.status !== 'queued' || stored.value.ready) return
      const dependencies = (await dependenciesOf(this.#fleet, stored.value)).map(d => d.value)
      if (!isReady(stored.value, dependencies)) return
      const { mission, events } = life.dependencyMet(stored.value, on, this.#by())
      await this.#fleet.commit('commit.dependency-met', { changes: [put('missions', mission, stored.version)], events })
    })
  }

  #by = () => ({ actor: 'fleet', now: this.#fleet.now() })

  /** The earliest of all wishes to be woken wins. */
  #wakeIn(ms: number): void {
    const at = performance.now() + Math.max(1, Math.min(ms, 60_000))
    if (at >= this.#wakesAt) return
    clearTimeout(this.#timer)
    this.#wakesAt = at
    this.#timer = setTimeout(() => {
      this.#wakesAt = Infinity
      this.#wake()
    }, at - performance.now())
  }
}
