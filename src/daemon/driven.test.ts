import { expect, onTestFinished, test, vi } from 'vitest'
import type { Event } from '../domain/records/event.ts'
import { pauseAfter } from '../domain/records/fault.ts'
import { faultsOf, retryFaults } from '../fleet/faults.ts'
import { aFleet } from '../fleet/fleet.testkit.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { idIn, type Reactor, type Ref, refTo } from '../fleet/reactor.ts'
import { fleetState } from '../fleet/records.ts'
import { Damaged, Unavailable } from '../store/index.ts'
import { Driven } from './driven.ts'

const event = (mission_id: string): Event =>
  ({ kind: 'landed', time: '', actor: 'x', mission_id, data: {} }) as unknown as Event

/** A reactor that records what it looks at. */
function aReactor(over: Partial<Reactor> = {}): Reactor & { seen: string[] } {
  const seen: string[] = []
  return {
    name: 'test',
    seen,
    async *unfinished() {},
    affectedBy: ({ mission_id }) => (mission_id ? [refTo('missions', mission_id)] : []),
    async look(ref: Ref) {
      seen.push(idIn(ref))
    },
    ...over,
  }
}

async function driving(fleet: Fleet, reactor: Reactor, told: string[] = []): Promise<Driven> {
  const driven = new Driven(
    fleet,
    () => reactor,
    what => told.push(what),
  )
  onTestFinished(() => driven.stop())
  await driven.start()
  return driven
}

test('what fails on one record is set aside with its reason, and the others are looked at', async () => {
  const fleet = aFleet()
  const told: string[] = []
  const seen: string[] = []
  const look = async (ref: Ref) => {
    if (idIn(ref) === 'bad') throw new Error('it is odd')
    seen.push(idIn(ref))
  }
  const driven = await driving(fleet, aReactor({ look }), told)
  driven.hear([event('a'), event('bad'), event('b')])
  await driven.settled()
  expect(seen).toEqual(['a', 'b'])
  expect(told).toEqual(['test, missions/bad'])
  expect(await faultsOf(fleet)).toMatchObject([
    { reactor: 'test', record: 'missions/bad', tries: 1, reason: expect.stringContaining('odd') },
  ])
})

test('a fault whose own record is damaged is written anew, and goes when its cause is gone', async () => {
  const fleet = aFleet()
  let isBroken = true
  const look = async () => {
    if (isBroken) throw new Error('broken')
  }
  const driven = await driving(fleet, aReactor({ look }))
  const tried = async () => {
    driven.hear([event('m')])
    await driven.settled()
  }
  await tried()
  const { get } = fleet.store
  fleet.store.get = async (collection, id) => {
    const stored = await get.call(fleet.store, collection, id)
    if (collection === 'faults' && stored) throw new Damaged(`faults/${id}`, stored.version)
    return stored as never
  }
  await tried()
  expect(await faultsOf(fleet)).toMatchObject([{ tries: 2 }])
  isBroken = false
  await tried()
  expect(await faultsOf(fleet)).toEqual([])
})

test('an event about it lifts the pause, tries are counted, and a look that succeeds ends it', async () => {
  const fleet = aFleet()
  let isBroken = true
  const look = async () => {
    if (isBroken) throw new Error('broken')
  }
  const driven = await driving(fleet, aReactor({ look }))
  for (let tries = 1; tries <= 3; tries++) {
    driven.hear([event('m')])
    await driven.settled()
    expect(await faultsOf(fleet)).toMatchObject([{ tries }])
  }
  isBroken = false
  driven.retry()
  await driven.settled()
  expect(await faultsOf(fleet)).toEqual([])
})

test('a fault is told when it appears and when it is gone, and the outcome of a retry that was asked for', async () => {
  const fleet = aFleet()
  let isBroken = true
  const look = async () => {
    if (isBroken) throw new Error('broken')
  }
  const driven = await driving(fleet, aReactor({ look }))
  const told = async () => (await fleet.store.events({ limit: 100 })).events.map(({ kind }) => kind)
  for (let tries = 1; tries <= 3; tries++) {
    driven.hear([event('m')])
    await driven.settled()
  }
  expect((await fleet.store.events({ limit: 100 })).events).toMatchObject([
    {
      kind: 'fault_recorded',
      actor: 'fleet',
      // An event of the mission would lift the pause of its own fault.
      mission_id: null,
      cause: expect.stringContaining('broken'),
      data: { reactor: 'test', record: 'missions/m' },
    },
  ])
  driven.retry()
  await driven.settled()
  expect(await told()).toEqual(['fault_recorded', 'fault_recorded'])
  driven.hear([event('m')])
  await driven.settled()
  expect(await told()).toHaveLength(2)
  isBroken = false
  driven.retry()
  await driven.settled()
  expect(await told()).toEqual(['fault_recorded', 'fault_recorded', 'fault_cleared'])
  expect(await faultsOf(fleet)).toEqual([])
})

test('the pauses before the next try grow', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const fleet = aFleet()
  let tries = 0
  const look = async () => {
    tries++
    throw new Error('broken')
  }
  const driven = await driving(fleet, aReactor({ look }))
  driven.hear([event('m')])
  await driven.settled()
  for (const [ms, after] of [
    [4999, 1],
    [1, 2],
    [9999, 2],
    [1, 3],
  ] as const) {
    vi.advanceTimersByTime(ms)
    await driven.settled()
    expect(tries).toBe(after)
  }
})

test('events that make a reactor throw end neither it nor what comes after them', async () => {
  const fleet = aFleet()
  const seen: string[] = []
  const driven = await driving(
    fleet,
    aReactor({
      affectedBy({ mission_id }) {
        if (mission_id === 'poison') throw new Error('no')
        return [refTo('missions', mission_id!)]
      },
      async look(ref) {
        seen.push(idIn(ref))
      },
    }),
  )
  driven.hear([event('poison'), event('a')])
  await driven.settled()
  expect(seen).toEqual(['a'])
  expect(await faultsOf(fleet)).toMatchObject([{ record: null, reason: expect.stringContaining('no') }])
})

test('one that hangs stops nobody else', async () => {
  const fleet = aFleet()
  const { promise, resolve } = Promise.withResolvers<void>()
  const hanging = await driving(fleet, aReactor({ name: 'hangs', look: () => promise }))
  const other = aReactor()
  const driven = await driving(fleet, other)
  for (const each of [hanging, driven]) each.hear([event('a')])
  await driven.settled()
  expect(other.seen).toEqual(['a'])
  expect(driven.isSettled && !hanging.isSettled).toBe(true)
  resolve()
})

test('what was set aside before a restart is looked at by the next one, also where nothing else names it', async () => {
  const fleet = aFleet()
  const broken = await driving(fleet, aReactor({ look: () => Promise.reject(new Error('broken')) }))
  broken.hear([event('m')])
  await broken.settled()
  await broken.stop()
  const mended = aReactor()
  await driving(fleet, mended)
  expect(mended.seen).toEqual(['m'])
  expect(await faultsOf(fleet)).toEqual([])
})

test('work that goes on after a look and fails is a fault of its record', async () => {
  const fleet = aFleet()
  let rounds = 0
  const driven = new Driven(
    fleet,
    desk =>
      aReactor({
        async look(ref) {
          desk.goOn(ref, rounds++ ? Promise.resolve() : Promise.reject(new Error('later')))
        },
      }),
    () => {},
  )
  onTestFinished(() => driven.stop())
  await driven.start()
  driven.hear([event('m')])
  await vi.waitUntil(async () => (await faultsOf(fleet)).length === 1)
  driven.retry()
  await vi.waitUntil(async () => (await faultsOf(fleet)).length === 0)
  expect(rounds).toBe(2)
})

test('after events were missed everything unfinished is looked at', async () => {
  const fleet = aFleet()
  let rounds = 0
  const reactor = aReactor({
    async *unfinished() {
      rounds++
      yield refTo('missions', `left${rounds}`)
    },
  })
  const driven = await driving(fleet, reactor)
  driven.missed()
  await driven.settled()
  expect(reactor.seen).toEqual(['left1', 'left2'])
})

test('what a reactor failed at as a whole is told until it succeeds, and no longer than its server lives', async () => {
  const fleet = aFleet()
  const broken = await driving(fleet, aReactor({ tick: () => Promise.reject(new Error('broken')) }))
  await broken.tick()
  expect(await faultsOf(fleet)).toMatchObject([{ record: null, tries: 1 }])
  await broken.stop()
  await driving(fleet, aReactor())
  expect(await faultsOf(fleet)).toEqual([])
  // The counts are permanent.
  expect((await fleetState(fleet)).value.fault_counts).toEqual({ test: 1 })
})

test('an event that comes in the very moment in which the work ends is looked at too', async () => {
  const fleet = aFleet()
  const reactor = aReactor()
  const driven = await driving(fleet, reactor)
  const missed: number[] = []
  for (let turns = 0; turns < 40; turns++) {
    driven.hear([event(`first${turns}`)])
    for (let n = 0; n < turns; n++) await Promise.resolve()
    driven.hear([event(`second${turns}`)])
    await new Promise(setImmediate)
    await driven.settled()
    if (!reactor.seen.includes(`second${turns}`)) missed.push(turns)
  }
  expect(missed).toEqual([])
})

test('a store that gave no answer is no fault of the record: it is looked at again, with everything else', async () => {
  const fleet = aFleet()
  const told: string[] = []
  const seen: string[] = []
  let isAway = true
  const look = async (ref: Ref) => {
    if (isAway) throw new Unavailable('no answer')
    seen.push(idIn(ref))
  }
  const unfinished = async function* () {
    if (!isAway) yield refTo('missions', 'other')
  }
  const driven = await driving(fleet, aReactor({ look, unfinished }), told)
  driven.hear([event('a')])
  await driven.settled()
  expect(told).toEqual(['test, missions/a'])
  expect(await faultsOf(fleet)).toEqual([])
  isAway = false
  await vi.waitFor(() => expect(seen.toSorted()).toEqual(['a', 'other']), { timeout: 10_000 })
})

const eventKinds = async (fleet: Fleet): Promise<string[]> =>
  (await fleet.store.events({ limit: 1000 })).events.map(({ kind }) => kind)

/** Long enough for work that only waits for its turn. */
async function turns(driven: Driven): Promise<void> {
  for (let i = 0; i < 100; i++) await new Promise(setImmediate)
  await driven.settled()
}

test('a person who asks for another try writes that down, with a key or without', async () => {
  const fleet = aFleet()
  await retryFaults(fleet, { operation: 'retry_faults', actor: 'owner' })
  expect(await eventKinds(fleet)).toEqual(['faults_retried'])
})

test('work that goes on after its look and fails every time is one fault, told of once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const fleet = aFleet()
  const fails = async (): Promise<never> => {
    for (let i = 0; i < 20; i++) await new Promise(setImmediate)
    throw new Error('broken')
  }
  const driven = new Driven(
    fleet,
    desk => aReactor({ look: async ref => desk.goOn(ref, fails()) }),
    () => {},
  )
  onTestFinished(() => driven.stop())
  await driven.start()
  driven.hear([event('m')])
  for (let tries = 1; tries <= 6; tries++) {
    await turns(driven)
    expect(await faultsOf(fleet)).toMatchObject([{ tries }])
    vi.advanceTimersByTime(pauseAfter(tries))
  }
  expect(await eventKinds(fleet)).toEqual(['fault_recorded'])
})

test('work that goes on longer than its pause is no fault any more', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const fleet = aFleet()
  let work = Promise.reject(new Error('broken'))
  const driven = new Driven(
    fleet,
    desk => aReactor({ look: async ref => desk.goOn(ref, work) }),
    () => {},
  )
  onTestFinished(() => driven.stop())
  await driven.start()
  driven.hear([event('m')])
  await turns(driven)
  expect(await faultsOf(fleet)).toHaveLength(1)
  work = new Promise(() => {})
  driven.hear([event('m')])
  for (let i = 0; i < 100; i++) await new Promise(setImmediate)
  expect(await faultsOf(fleet)).toHaveLength(1)
  vi.advanceTimersByTime(600_000)
  for (let i = 0; i < 100; i++) await new Promise(setImmediate)
  expect(await faultsOf(fleet)).toEqual([])
})

test('an event that comes while everything is to be looked at is not lost', async () => {
  const fleet = aFleet()
  let isBroken = true
  const gate = Promise.withResolvers<void>()
  const reactor = aReactor({
    async *unfinished() {
      yield refTo('missions', 'm')
    },
    async look(ref) {
      if (idIn(ref) === 'slow') return gate.promise
      if (isBroken) throw new Error('broken')
    },
  })
  const driven = await driving(fleet, reactor)
  await driven.settled()
  driven.hear([event('slow')])
  await new Promise(setImmediate)
  isBroken = false
  driven.missed()
  driven.hear([event('m')])
  gate.resolve()
  await driven.settled()
  expect(await faultsOf(fleet)).toEqual([])
})

test('a fault whose end could not be written is cleared later', async () => {
  const fleet = aFleet()
  let [isBroken, isAway] = [true, false]
  const commit: Fleet['commit'] = async (name, batch) => {
    if (isAway) throw new Unavailable('no answer')
    return fleet.commit(name, batch)
  }
  const look = async () => {
    if (isBroken) throw new Error('broken')
  }
  const driven = await driving(Object.create(fleet, { commit: { value: commit } }), aReactor({ look }))
  driven.hear([event('m')])
  await driven.settled()
  ;[isBroken, isAway] = [false, true]
  driven.hear([event('m')])
  await driven.settled()
  expect(await faultsOf(fleet)).toHaveLength(1)
  isAway = false
  driven.hear([event('m')])
  await driven.settled()
  expect(await faultsOf(fleet)).toEqual([])
})

test('faults of the server before are known although the store gave no answer at first', async () => {
  const fleet = aFleet()
  const before = await driving(fleet, aReactor({ look: () => Promise.reject(new Error('broken')) }))
  before.hear([event('m')])
  await before.settled()
  await before.stop()
  let isAway = true
  const find: typeof fleet.store.find = (collection, query) => {
    if (collection !== 'faults' || !isAway) return fleet.store.find(collection, query)
    isAway = false
    return Promise.reject(new Unavailable('no answer'))
  }
  const store = Object.create(fleet.store, { find: { value: find } })
  await driving(Object.create(fleet, { store: { value: store } }), aReactor())
  await expect.poll(() => faultsOf(fleet)).toEqual([])
})
