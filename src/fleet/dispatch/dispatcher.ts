import { isOfTheStore } from '../../domain/errors.ts'
import type { Event } from '../../domain/records/event.ts'
import type { Mission, Status } from '../../domain/records/mission.ts'
import type { Session } from '../../domain/records/session.ts'
import { effective } from '../../domain/rules/effective.ts'
import * as life from '../../domain/rules/life.ts'
import { BLOCKED } from '../../domain/rules/team-task.ts'
import { isReady, waitsFor } from '../../domain/rules/waiting.ts'
import { secondsBetween } from '../../platform/measurements.ts'
import { type Change, type Check, Conflict, type Stored } from '../../store/index.ts'
import { diskShareOf } from '../disk/limits.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { DispatchGate } from '../plugins/gate.ts'
import { type Desk, idIn, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all, dependenciesOf, fleetState, put } from '../records.ts'
import { sentence } from '../sentences.ts'
import type { LiveSession } from '../sessions/live-session.ts'
import { isIdleWake, memberHold, ofMember } from '../teams/sessions.ts'
import { type Budget, lastingBudgets, leftOf, overBudget } from './budgets.ts'
import { defaultsOf, diskIsFull, fullSlot, modelDoubt } from './capacity.ts'
import { holdOn } from './holds.ts'
import { planSession } from './next-session.ts'

const PAGE = 50
const DISK_RETRY_MS = 10_000

/** When a mission gets one of these statuses, missions that depend on it may have nothing left to wait for. */
const RELEASING: readonly unknown[] = ['done', 'review', 'landing'] satisfies Status[]

/** What runs sessions. */
interface Runs {
  readonly live: ReadonlyMap<string, Pick<LiveSession, 'slot'>>
  begin(session: Session): void
}

/** Starts queued missions by priority and age, as far as there is room. */
export class Dispatcher implements Reactor {
  readonly name = 'dispatch'
  readonly #fleet: Fleet
  readonly #desk: Desk
  readonly #runs: Runs
  readonly #gate: DispatchGate

  constructor(fleet: Fleet, desk: Desk, runs: Runs) {
    this.#fleet = fleet
    this.#desk = desk
    this.#runs = runs
    this.#gate = new DispatchGate(fleet, desk)
  }

  async *unfinished(): AsyncGenerator<Ref> {
    for await (const { value } of all(this.#fleet, 'missions', 'unready')) yield refTo('missions', value.id)
  }

  /** The missions that wait for one that has moved. */
  async affectedBy({ kind, mission_id, data }: Event): Promise<Ref[]> {
    // What blocks a task may be done by the time its session has ended.
    if (mission_id && kind === 'requeued' && data.code === BLOCKED) return [refTo('missions', mission_id)]
    if (!mission_id || !RELEASING.includes(data.status)) return []
    const waiting = await Array.fromAsync(all(this.#fleet, 'missions', 'dependency', [mission_id]))
    return waiting.map(({ value }) => refTo('missions', value.id))
  }

  async pass(): Promise<void> {
    if (this.#isFull()) return
    if (diskIsFull(this.#fleet)) return this.#desk.passIn(DISK_RETRY_MS)
    // Pauses are read before the list. A project that is resumed during this pass waits for the next one.
    const began = this.#fleet.now()
    const fleetPaused = (await fleetState(this.#fleet)).value.paused
    let cursor: string | undefined
    do {
      const page = await this.#fleet.store.find('missions', { index: 'ready', limit: PAGE, cursor })
      for (const { value } of page.items) {
        // A mission that cannot start must not keep the ones behind it.
        await this.#desk.attempt(refTo('missions', value.id), () => this.#consider(value.id, { began, fleetPaused }))
        if (this.#isFull()) return
      }
      cursor = page.cursor
    } while (cursor)
  }

  #isFull = (): boolean => this.#runs.live.size >= this.#fleet.settings.maxConcurrent

  /** A mission that could not be started before. */
  async #considerAlone(id: string): Promise<void> {
    if (this.#isFull()) return
    const fleetPaused = (await fleetState(this.#fleet)).value.paused
    await this.#consider(id, { began: this.#fleet.now(), fleetPaused })
  }

  async #consider(id: string, { began, fleetPaused }: { began: string; fleetPaused: boolean }): Promise<void> {
    const stored = await this.#fleet.store.get('missions', id)
    if (stored?.value.status !== 'queued' || !stored.value.ready) return
    const mission = stored.value
    const project = (await this.#fleet.store.get('projects', mission.project_id))?.value
    if (!project || project.deleting) return
    if (project.updated_at >= began) return this.#desk.passIn(20)
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
      hold:
        (await memberHold(this.#fleet, mission)) ?? (agent === null ? null : await holdOn(this.#fleet, agent, project)),
      full: fullSlot(
        this.#fleet,
        [...this.#runs.live.values()].map(session => session.slot),
        agent ?? '',
        project,
      ),
      disk: diskShareOf(this.#fleet, project),
    })
    if (!reason && (await isIdleWake(this.#fleet, mission))) {
      const { mission: idle, events } = life.idle(mission, this.#by())
      const changes = [put('missions', idle, stored.version)]
      return this.#try(() => this.#fleet.commit('commit.member-woken', { changes, events }))
    }
    if (reason?.until) return this.#desk.passIn(Date.parse(reason.until) - Date.parse(this.#fleet.now()))
    if (!reason && this.#gate.lets(stored)) await this.#try(() => this.#start(stored, dependencies))
  }

  async #start(stored: Stored<Mission>, dependencies: Stored<Mission>[]): Promise<void> {
    const mission = stored.value
    const project = (await this.#fleet.store.get('projects', mission.project_id))!.value
    // A budget belongs to the mission. A retry or a new conversation does not reset it.
    const budgets = await lastingBudgets(this.#fleet, mission, project)
    const spent = budgets.find(budget => leftOf(budget) <= 0)
    if (spent) return this.#spent(stored, spent)
    let session: Session
    try {
      session = await planSession(this.#fleet, mission, project)
    } catch (error) {
      if (isOfTheStore(error)) throw error
      const why = {
        code: 'dispatch_failed',
        text: sentence(error).slice(0, 4000),
        try: `fleet retry ${mission.id}`,
      }
      const { mission: failed, events } = life.failed(mission, why, this.#by())
      return this.#fleet.commit('commit.dispatch-failed', {
        changes: [put('missions', failed, stored.version)],
        events: [life.about(mission, 'dispatch_failed', this.#by(), { cause: why.text }), ...events],
      })
    }
    const step = life.started(mission, session, this.#by())
    const changes: Change[] = [
      put('missions', step.mission, stored.version),
      put('sessions', session, 'absent'),
      ...(await ofMember(this.#fleet, session)),
    ]
    const checks: Check[] = dependencies.map(d => ({ collection: 'missions', id: d.value.id, expects: d.version }))
    const doubt = modelDoubt(this.#fleet, session.agent, session.model)
    const warning = doubt
      ? [life.about(mission, 'unknown_model', this.#by(), { session_id: session.id, cause: doubt })]
      : []
    await this.#fleet.commit('commit.session-start', { changes, checks, events: [...step.events, ...warning] })
    const { dispatchSeconds } = this.#fleet.measurements
    dispatchSeconds.add(secondsBetween(mission.queued_at ?? mission.created_at, this.#fleet.now()))
    this.#gate.forget(mission.id)
    this.#runs.begin(session)
  }

  async #spent(stored: Stored<Mission>, own: Budget): Promise<void> {
    const why = { code: 'limit', text: overBudget(own, 0), try: own.try }
    const { mission, events } = life.toPerson(stored.value, why, this.#by(), 'limit_reached')
    await this.#fleet.commit('commit.dispatch-failed', {
      changes: [put('missions', mission, stored.version)],
      events,
    })
  }

  /** If another commit was first, there is another pass right after. */
  async #try(attempt: () => Promise<void>): Promise<void> {
    try {
      await attempt()
    } catch (error) {
      if (!(error instanceof Conflict)) throw error
      this.#desk.passIn(5)
    }
  }

  /**
   * Marks a mission as ready when it has nothing left to wait for. The next pass starts it. One that is ready already
   * could not be started before, and is tried now.
   */
  async look(ref: Ref): Promise<void> {
    await retryOnConflict(async () => {
      const stored = await this.#fleet.store.get('missions', idIn(ref))
      if (stored?.value.status !== 'queued') return
      if (stored.value.ready) return this.#considerAlone(stored.value.id)
      const dependencies = (await dependenciesOf(this.#fleet, stored.value)).map(d => d.value)
      if (!isReady(stored.value, dependencies)) return
      const on = dependencies.toSorted((a, b) => (a.updated_at < b.updated_at ? -1 : 1)).at(-1)?.id ?? ''
      const { mission, events } = life.dependencyMet(stored.value, on, this.#by())
      const changes = [put('missions', mission, stored.version)]
      await this.#fleet.commit('commit.dependency-met', { changes, events, isRepeatable: true })
    })
  }

  #by = () => ({ actor: 'fleet', now: this.#fleet.now() })
}
