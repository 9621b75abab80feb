import { type Agents, agentsOf } from '../agents/index.ts'
import { type Configuration, configurationOf } from '../config/configuration.ts'
import { type Models, modelsIn } from '../config/prices.ts'
import { SETTINGS, type Settings } from '../config/settings.ts'
import { type EffectName, effect } from '../platform/effects.ts'
import type { Home } from '../platform/home.ts'
import { type Batch, type Blobs, Conflict, openBlobs, type Store } from '../store/index.ts'
import type { PluginHost } from './plugins/host.ts'

/** What every part of the application stands on. Opening one starts nothing: any process may read and leave wishes. */
export interface Fleet {
  readonly home: Home
  readonly store: Store
  readonly blobs: Blobs
  /** What holds now: it may change while everything goes on, so it is read where it is needed. */
  readonly settings: Settings
  readonly configuration: Configuration
  readonly agents: Agents
  /** At work only where the home is held. */
  readonly plugins: { host?: PluginHost }
  /** What is known of models: prices and windows. */
  readonly models: Models
  /** The environment of this process, from which agents get what is allowed to reach them. */
  readonly environment: Readonly<Record<string, string | undefined>>
  now(): string
  /** Every commit has a name, under which the chaos suite finds it. */
  commit(name: EffectName, batch: Batch): Promise<void>
  close(): Promise<void>
}

export function makeFleet(parts: {
  home: Home
  store: Store
  environment: NodeJS.ProcessEnv
  /** Absent: as the home's own file and the environment say. */
  configuration?: Configuration
  now?: () => string
}): Fleet {
  const { home, store, environment, configuration = configurationOf(home.path, environment) } = parts
  return {
    home,
    store,
    get environment() {
      // The adapter knows this one by its variable only.
      const { claudeSdk } = configuration.settings
      return claudeSdk ? { ...environment, [SETTINGS.claudeSdk.variable]: claudeSdk } : environment
    },
    blobs: openBlobs(home.blobs),
    configuration,
    get settings() {
      return configuration.settings
    },
    agents: agentsOf(home.path),
    plugins: {},
    models: modelsIn(home.path),
    now: parts.now ?? (() => new Date().toISOString()),
    commit: (name, batch) => effect(name, () => store.commit(batch)),
    close: () => store.close(),
  }
}

const MAX_ATTEMPTS = 50

/** Read, decide, commit; when someone else was first, read and decide again. The decision is pure, so repeating it is free. */
export async function retryOnConflict<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof Conflict) || tries >= MAX_ATTEMPTS) throw error
    }
  }
}
