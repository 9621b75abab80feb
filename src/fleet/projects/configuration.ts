import { statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  Configuration,
  configurationFile,
  givenFrom,
  type Read,
  readConfiguration,
} from '../../config/configuration.ts'
import type { Given, SettingName, Settings } from '../../config/settings.ts'
import { keyOf, type Layers } from '../../config/sources.ts'
import { InvalidInput, Refusal } from '../../domain/errors.ts'
import type { NewEvent } from '../../domain/records/event.ts'
import { FLEET } from '../../domain/records/fleet.ts'
import { clipped, MAX_CAUSE_CHARS } from '../../domain/text.ts'
import { Lookout } from '../../platform/lookout.ts'
import type { Store } from '../../store/index.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { fleetState, ownRecord, put } from '../records.ts'

const LOOK_EVERY_MS = 100
const AFTER_A_FAULT_MS = 5000

/** The file as a fleet of this home last read it. */
export async function lastConfiguration(store: Store, layers: Omit<Layers, 'file'>): Promise<Configuration> {
  const taken = (await ownRecord(store, 'fleet', FLEET)).value?.settings ?? {}
  return new Configuration({ ...layers, file: knownIn(taken) })
}

function knownIn(taken: Record<string, unknown>): Given {
  // Settings that another version of the program read may mean nothing to this one.
  const known = Object.entries(taken).flatMap(([key, value]) => {
    try {
      return Object.entries(givenFrom({ [key]: value }))
    } catch {
      return []
    }
  })
  return Object.fromEntries(known)
}

const followed = new WeakMap<Configuration, string>()

/** For a server that does not decide: the settings as the one that does has read them. */
export async function followConfiguration({ store, configuration }: Fleet): Promise<void> {
  const taken = (await ownRecord(store, 'fleet', FLEET)).value?.settings ?? {}
  const seen = JSON.stringify(taken)
  if (followed.get(configuration) === seen) return
  configuration.take(knownIn(taken))
  followed.set(configuration, seen)
}

/** For a process that only asks: the file as it is, unless it is broken or a running server decides. */
export function lookAtConfiguration(fleet: Fleet, { served }: { served: boolean }): void {
  const { given, fault } = readFitting(fleet.home.path, fleet)
  if (given && !served) fleet.configuration.take(given)
  fleet.configuration.fault = fault
}

export interface Taken {
  /** The settings that changed, by key. */
  changed: Record<string, { from: unknown; to: unknown }>
  /** Why the file is ignored, if that is news. */
  refused: string | null
}

/** Reads the file and applies it. If it is broken, everything stays as it is, and that is said once. */
export async function takeConfiguration(fleet: Fleet, actor = 'fleet'): Promise<Taken> {
  const { configuration } = fleet
  const { given, fault } = readFitting(fleet.home.path, fleet)
  if (fault) {
    const refused = fault.message === configuration.fault?.message ? null : fault.message
    if (refused) await commit(fleet, { kind: 'settings_refused', cause: clipped(refused, MAX_CAUSE_CHARS) }, actor)
    configuration.fault = fault
    return { changed: {}, refused }
  }
  const changed = difference(configuration.settings, configuration.settingsWith(given))
  await commit(fleet, { kind: 'settings_changed', data: { changed } }, actor, given)
  configuration.take(given)
  return { changed, refused: null }
}

/** What the file says, if it can be read and names agents that exist. */
export function readFitting(home: string, fleet: Pick<Fleet, 'agents'>): Read {
  const read = readConfiguration(home)
  try {
    if (read.given) requireAgents(read.given, fleet)
    return read
  } catch (error) {
    if (error instanceof Refusal) return { given: null, fault: error }
    throw error
  }
}

export function requireAgents({ defaultAgent, maxPerAgent = {} }: Given, fleet: Pick<Fleet, 'agents'>): void {
  for (const agent of [defaultAgent ?? [], Object.keys(maxPerAgent)].flat()) fleet.agents.named(agent)
  if (defaultAgent && fleet.agents.named(defaultAgent).can.scripts)
    throw new InvalidInput('default_agent', `cannot be ${defaultAgent}, which runs text as a script`, {
      try: `Choose a coding agent, and name ${defaultAgent} on each mission that is a script.`,
    })
}

function difference(before: Settings, after: Settings): Taken['changed'] {
  const names = (Object.keys(after) as SettingName[]).filter(name => !isDeepStrictEqual(before[name], after[name]))
  return Object.fromEntries(names.map(name => [keyOf(name), { from: before[name], to: after[name] }]))
}

/** Stores the settings together with the event, which wakes the dispatcher. */
async function commit(
  fleet: Fleet,
  event: Pick<NewEvent, 'kind' | 'cause' | 'data'>,
  actor: string,
  given?: Given,
): Promise<void> {
  await retryOnConflict(async () => {
    const { value, expects } = await fleetState(fleet)
    const named = Object.entries(given ?? {}).map(([name, said]) => [keyOf(name as SettingName), said])
    const settings = given ? Object.fromEntries(named) : value.settings
    if (given && isDeepStrictEqual(settings, value.settings)) return
    const time = fleet.now()
    await fleet.commit('commit.wish', {
      changes: given ? [put('fleet', { ...value, settings, updated_at: time }, expects)] : [],
      events: [{ ...event, time, actor }],
    })
  })
}

/** Reads the file after a change, once it has been stable for a moment: an editor may write it in pieces. */
export function watchConfiguration(
  fleet: Fleet,
  tell: (taken: Taken) => void,
  onFault: (what: string, error: unknown) => void,
): () => void {
  const file = configurationFile(fleet.home.path)
  const state = (): string => {
    const found = statSync(file, { throwIfNoEntry: false })
    return found ? [found.mtimeMs, found.ctimeMs, found.size, found.ino].join(' ') : ''
  }
  let taken: string | undefined
  let last: string | undefined
  let restsUntil = 0
  const take = async (now: string): Promise<void> => {
    restsUntil = Number.POSITIVE_INFINITY
    try {
      tell(await takeConfiguration(fleet))
      taken = now
      restsUntil = 0
    } catch (error) {
      onFault('settings', error)
      restsUntil = performance.now() + AFTER_A_FAULT_MS
    }
  }
  const look = (): boolean => {
    const now = state()
    const settled = now === last
    last = now
    if (settled && now !== taken && performance.now() >= restsUntil) void take(now)
    return now !== taken
  }
  const lookout = new Lookout({ folder: dirname(file), names: [basename(file)], everyMs: LOOK_EVERY_MS }, look, error =>
    onFault('settings', error),
  )
  return () => lookout.close()
}
