import { setTimeout as pause } from 'node:timers/promises'
import type { Event } from '../domain/records/event.ts'
import { Bridges } from '../fleet/beads/bridges.ts'
import { Delegation } from '../fleet/delegation/reactor.ts'
import { Measuring } from '../fleet/disk/measuring.ts'
import { Retention } from '../fleet/disk/retention.ts'
import { Dispatcher } from '../fleet/dispatch/dispatcher.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { HealthOfMembers } from '../fleet/health/reactor.ts'
import { CheckRuns } from '../fleet/landing/check-runs-reactor.ts'
import { Landings } from '../fleet/landing/reactor.ts'
import { Loops } from '../fleet/loops/engine.ts'
import { Deletions } from '../fleet/missions/deletions.ts'
import { Notifications } from '../fleet/notifications/reactor.ts'
import { Planning } from '../fleet/planning/reactor.ts'
import { Previews } from '../fleet/previews/reactor.ts'
import { PullRequests } from '../fleet/pull-requests/pull-requests.ts'
import { Questions } from '../fleet/questions/reactor.ts'
import type { Desk, Reactor } from '../fleet/reactor.ts'
import { Schedules } from '../fleet/schedules/scheduler.ts'
import { Indexing } from '../fleet/search/indexing.ts'
import { Sessions } from '../fleet/sessions/reactor.ts'
import { TakeOvers } from '../fleet/takeover/reactor.ts'
import { Teams } from '../fleet/teams/reactor.ts'
import { Swarms } from '../fleet/teamwork/reactor.ts'
import { Reservations } from '../fleet/teamwork/reservations-reactor.ts'
import { Spawns } from '../fleet/teamwork/spawns-reactor.ts'
import { Terminals } from '../fleet/terminals/reactor.ts'
import { Workflows } from '../fleet/workflows/reactor.ts'
import { Worktrees } from '../fleet/worktrees/reactor.ts'
import { Warming } from '../fleet/worktrees/warming.ts'
import { Turns } from '../git/turns.ts'
import { holdsOneOf } from '../operations/roles.ts'
import { every } from '../platform/timers.ts'
import { everything, type Seen } from '../runner/processes.ts'
import { expectPrograms } from '../spawning/index.ts'
import { type Lease, LeaseLost } from '../store/index.ts'
import { Driven, type OnFault } from './driven.ts'
import { Housekeeping } from './housekeeping.ts'
import { Unreadable } from './unreadable.ts'

const TICK_MS = 2000
const PAGE = 500
/** How much later cleaning up hears of an event. The next process is usually started by then. */
const PATIENCE_MS = 50

export interface RunningReactors {
  /** Stops acting; agents, setup commands and checks continue. */
  stop(): Promise<void>
  /** Resolves when nothing that this process started by itself is in progress. */
  settled(): Promise<void>
}

export interface ReactorOptions {
  /** Where the server of this home answers, for the agents. */
  url: string
  /** Logs an unexpected error, which never stops anything else. */
  onFault?: OnFault
  /** The right to act: when it is lost, everything here stops. Absent only where no other process could act. */
  lease?: Lease
}

/** All reactors, put together. */
function reactorsOf(fleet: Fleet, { url, onFault = () => {} }: ReactorOptions): Driven[] {
  /** By project: landings, merged pull requests and checks take turns. */
  const turns = new Turns()
  const processes = seenLately()
  const driven: Driven[] = []
  const add = <R extends Reactor>(make: (desk: Desk) => R): [R, Driven] => {
    let made: R | undefined
    const one = new Driven(
      fleet,
      desk => {
        made = make(desk)
        return made
      },
      onFault,
      () => {
        for (const each of driven) if (each !== one) each.missed()
      },
    )
    driven.push(one)
    return [made!, one]
  }
  const freed = () => dispatch.wake()
  const [sessions] = add(desk => new Sessions(fleet, desk, { url, onFault, processes, freed }))
  const [, dispatch] = add(desk => new Dispatcher(fleet, desk, sessions))
  add(desk => new Landings(fleet, desk, turns))
  add(desk => new CheckRuns(fleet, desk, turns))
  add(desk => new PullRequests(fleet, desk, turns))
  add(() => new Workflows(fleet))
  add(() => new Delegation(fleet))
  add(() => new Planning(fleet))
  add(desk => new Loops(fleet, desk, turns))
  add(desk => new Schedules(fleet, desk))
  add(desk => new Questions(fleet, desk, id => sessions.putAside(id)))
  add(desk => new Teams(fleet, desk))
  add(desk => new Terminals(fleet, desk, url))
  add(desk => new HealthOfMembers(fleet, desk))
  add(() => new Swarms(fleet))
  add(() => new Reservations(fleet))
  add(() => new Spawns(fleet))
  add(desk => new Notifications(fleet, desk, holdsOneOf))
  add(desk => new TakeOvers(fleet, desk, sessions.live))
  add(desk => new Previews(fleet, desk, processes))
  add(desk => new Worktrees(fleet, desk))
  add(desk => new Warming(fleet, desk, onFault))
  add(desk => new Retention(fleet, desk))
  add(() => new Measuring(fleet, freed))
  add(() => new Deletions(fleet))
  const [indexing] = add(desk => new Indexing(fleet, desk))
  fleet.indexing.host = indexing
  add(() => new Bridges(fleet, onFault))
  add(() => new Housekeeping(fleet))
  add(desk => new Unreadable(fleet, desk))
  return driven
}

/** The processes of this machine. All callers within a tick share one look. */
function seenLately(): () => readonly Seen[] {
  let seen: readonly Seen[] = []
  let at = Number.NEGATIVE_INFINITY
  return () => {
    if (performance.now() - at > TICK_MS / 4) {
      seen = everything()
      at = performance.now()
    }
    return seen
  }
}

/** What only one process per home may do: start and end sessions, land, and clean up. It acts on commits of any process. */
export async function startReactors(fleet: Fleet, options: ReactorOptions): Promise<RunningReactors> {
  const { onFault = () => {}, lease } = options
  let cursor = await fleet.store.tail()
  const reactors = reactorsOf(fleet, options)
  fleet.measurements.reactors = reactors.map(({ name }) => name)
  let reading: Promise<void> | null = null
  let again = false
  let over = false

  /** Called after every commit, even one of our own. */
  function wake(): void {
    again = true
    if (over || reading) return
    reading = read().finally(() => {
      reading = null
      if (again) wake()
    })
  }

  async function read(): Promise<void> {
    try {
      while (again && !over) {
        again = false
        const page = await fleet.store.events({ after: cursor, limit: PAGE })
        cursor = page.cursor
        again ||= page.events.length === PAGE
        // A wake without events may mean that lists have caught up, so everything is looked at again.
        tell(page.events, page.reset || (page.events.length === 0 && fleet.store.listsLag))
      }
    } catch (error) {
      onFault('reading events', error)
      setTimeout(wake, TICK_MS).unref()
    }
  }

  const [patient, eager] = [reactors.filter(each => each.isPatient), reactors.filter(each => !each.isPatient)]
  let turn: Promise<void> = Promise.resolve()

  /** The next mission starts before the worktree of the last one is removed: both want the same disk. */
  function tell(events: readonly Event[], missed: boolean): void {
    if (events.length) expectPrograms()
    for (const each of eager) tellOne(each, events, missed)
    // The pause begins now, so that many events in a row do not add up.
    const later = pause(PATIENCE_MS, undefined, { ref: false })
    turn = turn
      .then(() => later)
      .then(() => {
        if (!over) for (const each of patient) tellOne(each, events, missed)
      })
  }

  function tellOne(each: Driven, events: readonly Event[], missed: boolean): void {
    if (missed) each.missed()
    else each.hear(events)
    if (events.some(({ kind }) => kind === 'faults_retried')) each.retry()
  }

  // The free slots are known only after the running sessions are adopted.
  const [sessions, ...others] = reactors
  await sessions!.start()
  for (const each of others) each.start()
  const unwatch = fleet.store.watch(wake)
  const tick = () => {
    for (const each of reactors) each.tick()
    lease?.look().catch(error => onFault('looking at the lease', error))
  }
  const ticking = every(TICK_MS, tick, error => onFault('ticking', error))
  tick()
  wake()

  async function stop(): Promise<void> {
    over = true
    unwatch()
    clearInterval(ticking)
    await Promise.all([reading, ...reactors.map(each => each.stop())])
  }
  const whenLost = () => {
    onFault('acting', new LeaseLost(lease!.epoch))
    stop()
  }
  if (lease?.lost.aborted) whenLost()
  else lease?.lost.addEventListener('abort', whenLost, { once: true })

  return {
    stop,
    async settled() {
      for (let told: Promise<void> | undefined; reading || told !== turn || reactors.some(each => !each.isSettled); ) {
        told = turn
        await Promise.allSettled([reading, told, ...reactors.map(each => each.settled())])
      }
    },
  }
}
