import { setTimeout as delay } from 'node:timers/promises'
import type { Agents } from '../agents/index.ts'
import { type Configuration, configurationOf } from '../config/configuration.ts'
import { type Models, modelsIn } from '../config/prices.ts'
import { SETTINGS, type Settings } from '../config/settings.ts'
import { NotFound } from '../domain/errors.ts'
import { LEASE } from '../domain/records/store.ts'
import { INLINE_TEXT_BYTES } from '../domain/text.ts'
import { type EffectName, effect } from '../platform/effects.ts'
import type { Home } from '../platform/home.ts'
import type { Keys } from '../platform/keys.ts'
import { type Measurements, newMeasurements } from '../platform/measurements.ts'
import type { PluginAgents } from '../plugins/adapters.ts'
import {
  type Batch,
  type Blobs,
  Conflict,
  type Lease,
  openBlobs,
  type Store,
  Texts,
  Unavailable,
} from '../store/index.ts'
import { agentsFor } from './agents.ts'
import { Refusals } from './people/refusals.ts'
import { Tickets } from './people/tickets.ts'
import type { RunningPlugins } from './plugins/running.ts'
import type { SearchIndexing } from './search/search-indexing.ts'
import type { HeldTerminals } from './takeover/held.ts'

/** What every part of the application uses. Opening a fleet starts nothing: any process may read, and commit wishes. */
export interface Fleet {
  readonly home: Home
  readonly keys: Keys
  readonly store: Store
  readonly blobs: Blobs
  /** The index of search. Only the daemon writes it. */
  readonly texts: Texts
  /** The current settings. They may change at any time, so read them where they are needed. */
  readonly settings: Settings
  readonly configuration: Configuration
  readonly agents: Agents
  /** The agents among them that plugins bring. */
  readonly pluginAgents: PluginAgents
  /** Set while this process is the daemon: the same fleet, for what only the daemon may do. */
  readonly daemon?: Fleet
  /** Set where several servers share the store. */
  readonly fellows?: Fellows
  /** Set in the fleet of the daemon: throws once another has taken the lease. For acts that no commit guards. */
  requireLease?(): Promise<void>
  /** `host` is set only in the daemon. */
  readonly plugins: { host?: RunningPlugins }
  /** `host` is set only in the daemon. */
  readonly terminals: { host?: HeldTerminals }
  /** `host` is set only in the daemon. */
  readonly indexing: { host?: SearchIndexing }
  /** For live connections to the server in this process. */
  readonly tickets: Tickets
  /** Refusals that are not in the audit log yet. */
  readonly refusals: Refusals
  /** What this process counts and times. */
  readonly measurements: Measurements
  /** Prices and context windows of models. */
  readonly models: Models
  /** The environment of this process, from which agents get what is allowed to reach them. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Set in the fleet as somebody sees it who may see some projects only: which ones, and the fleet as it is. */
  readonly view?: { readonly projects: ReadonlySet<string>; readonly team?: string; readonly whole: Fleet }
  now(): string
  /** Every commit has a name, under which the chaos suite finds it. */
  commit(name: EffectName, batch: Batch): Promise<void>
  close(): Promise<void>
}

/** The other servers of the store, as seen by the server in this process. */
export interface Fellows {
  /** Asks the server that decides. Throws a refusal that names it, if it cannot be asked. */
  forward(asked: object, signal: AbortSignal): Promise<unknown>
  /** The refusal of what cannot be passed on: it names the server that has to be asked itself. */
  refusal(what: string): Promise<Error>
}

export function makeFleet(parts: {
  home: Home
  keys: Keys
  store: Store
  environment: NodeJS.ProcessEnv
  /** If absent: what the home's own file and the environment say. */
  configuration?: Configuration
  now?: () => string
}): Fleet {
  const { home, keys, store, environment, configuration = configurationOf(home.path, environment) } = parts
  // Made when first used: most commands that only read need none of them.
  const agents = once(() => agentsFor(home.path))
  const models = once(() => modelsIn(home.path))
  const measurements = once(() => newMeasurements())
  const refusals = new Refusals({
    get: store.get.bind(store),
    commit: batch => effect('commit.wish', () => timed(measurements(), store.commit(batch))),
  })
  let texts: Texts | undefined
  return {
    home,
    keys,
    store,
    get environment() {
      // The adapter reads this setting only from its environment variable.
      const { claudeSdk } = configuration.settings
      return claudeSdk ? { ...environment, [SETTINGS.claudeSdk.variable]: claudeSdk } : environment
    },
    blobs: openBlobs(home.blobs),
    get texts() {
      texts ??= new Texts(home.searchFile)
      return texts
    },
    configuration,
    get settings() {
      return configuration.settings
    },
    get agents() {
      return agents().agents
    },
    get pluginAgents() {
      return agents().pluginAgents
    },
    plugins: {},
    terminals: {},
    indexing: {},
    tickets: new Tickets(),
    refusals,
    get measurements() {
      return measurements()
    },
    get models() {
      return models()
    },
    now: parts.now ?? (() => new Date().toISOString()),
    commit: (name, batch) => effect(name, () => timed(measurements(), store.commit(batch))),
    async close() {
      texts?.close()
      await refusals.flush()
      await store.close()
    },
  }
}

async function timed({ commitSeconds }: Measurements, commit: Promise<void>): Promise<void> {
  const began = performance.now()
  await commit
  commitSeconds.add((performance.now() - began) / 1000)
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** The same fleet for the daemon: each of its commits is refused once another daemon has taken the lease. */
export const asDaemon = (fleet: Fleet, lease: Lease): Fleet =>
  Object.create(fleet, {
    commit: {
      value: (name: EffectName, batch: Batch) => effect(name, () => timed(fleet.measurements, lease.commit(batch))),
    },
    requireLease: { value: lease.require },
  })

/**
 * The same fleet for the server in the daemon: its own commits are wishes, and `daemon` does what only the daemon may.
 */
export const served = (fleet: Fleet, lease: Lease): Fleet =>
  Object.create(fleet, { daemon: { value: asDaemon(fleet, lease) } })

/** The same where several servers share the store: this one is the daemon as long as `deciding` says so. */
export const servedBeside = (fleet: Fleet, deciding: { readonly daemon?: Fleet }, fellows: Fellows): Fleet =>
  Object.create(fleet, {
    daemon: { get: () => deciding.daemon },
    fellows: { value: fellows },
    blobs: { value: withFilesElsewhere(fleet, fellows) },
  })

/** The same for a command, which may be in another home than the server that decides. */
export const askedBeside = (fleet: Fleet, refusal: Fellows['refusal']): Fleet =>
  Object.create(fleet, { blobs: { value: withFilesElsewhere(fleet, { refusal }) } })

/** Long texts are files of the home that decides. Another home must not keep what that one cannot read. */
function withFilesElsewhere({ blobs, store, home }: Fleet, fellows: Pick<Fellows, 'refusal'>): Blobs {
  const requireHere = async (what: string): Promise<void> => {
    const lease = (await store.get('lease', LEASE))?.value
    if (lease?.home && lease.home !== home.id) throw await fellows.refusal(what)
  }
  const kept = async <T>(run: () => Promise<T>): Promise<T> => {
    await requireHere('A long text or an image')
    return run()
  }
  const found = async <T>(run: () => Promise<T>): Promise<T> => {
    try {
      return await run()
    } catch (error) {
      if (error instanceof NotFound) await requireHere('This long text')
      throw error
    }
  }
  const get = (hash: string) => found(() => blobs.get(hash))
  return {
    get,
    put: text => kept(() => blobs.put(text)),
    putBytes: bytes => kept(() => blobs.putBytes(bytes)),
    getBytes: hash => found(() => blobs.getBytes(hash)),
    keep: async text => {
      const isLong = Buffer.byteLength(text) >= INLINE_TEXT_BYTES
      return isLong ? kept(() => blobs.keep(text)) : blobs.keep(text)
    },
    read: async stored => ('inline' in stored ? stored.inline : get(stored.blob)),
  }
}

const MAX_ATTEMPTS = 50
const LONGEST_PAUSE_MS = 50

/** Doubles with every try up to a limit, times a random factor, so that two that collided do not collide again. */
export const pauseAfterConflict = (tries: number, random: () => number): number =>
  random() * Math.min(2 ** (tries - 1), LONGEST_PAUSE_MS)

/** Read, decide, commit. After a conflict, read and decide again: the decision is pure, so repeating it is free. */
export const retryOnConflict = <T>(attempt: () => Promise<T>, random?: () => number): Promise<T> =>
  retry(attempt, error => error instanceof Conflict, random)

/** For an attempt that finds out whether an earlier one was written: it also retries when the store gave no answer. */
export const retryUntilKnown = <T>(attempt: () => Promise<T>, random?: () => number): Promise<T> =>
  retry(attempt, error => error instanceof Conflict || error instanceof Unavailable, random)

async function retry<T>(
  attempt: () => Promise<T>,
  isWorthIt: (error: unknown) => boolean,
  random: () => number = Math.random,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (!isWorthIt(error) || tries >= MAX_ATTEMPTS) throw error
    }
    await delay(pauseAfterConflict(tries, random))
  }
}
