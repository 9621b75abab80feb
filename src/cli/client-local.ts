import { givenBy, givenIn, withSettings } from '../config/settings.ts'
import { InvalidInput, Unfit } from '../domain/errors.ts'
import { type Fleet, makeFleet } from '../fleet/fleet.ts'
import { lastConfiguration, lookAtConfiguration } from '../fleet/projects/configuration.ts'
import type { Context, Item } from '../operations/operation.ts'
import { parseInput } from '../operations/shape.ts'
import type { Home } from '../platform/home.ts'
import { openSqlite, type Store, StoreOutdated, takeLease } from '../store/index.ts'
import type { Client, Running, Where } from './client.ts'
import { operationOf } from './operation-of.ts'

/** Runs operations in this process, on the home's own store; what only a server does is left to one as a wish. */
export async function localClient(home: Home, where: Where, running: Running | undefined): Promise<Client> {
  // The settings of a running server hold for everyone, whatever the shell says that a command is typed in.
  const environment = running ? withSettings(where.env, running.settings) : where.env
  const store = await openStore(home)
  const layers = { environment: givenIn(environment), flag: givenBy(running?.flags ?? {}) }
  const configuration = await lastConfiguration(store, layers)
  const fleet = makeFleet({ home, store, environment, configuration })
  lookAtConfiguration(fleet, { served: running !== undefined })
  let server = running
  const wake = async (): Promise<void> => {
    const { startInBackground } = await import('../daemon/background.ts')
    server ??= await startInBackground(home, where)
  }
  return {
    async call<T>(name: string, input: object) {
      const operation = await operationOf(name)
      if (operation.kind === 'stream')
        throw new InvalidInput('operation', `${name} is a stream`, { try: `fleet call ${name}` })
      if (operation.inServer && server) {
        const { httpClient } = await import('./client-http.ts')
        return httpClient(server.url, home.token).call<T>(name, input)
      }
      const answer = await operation.run(context(fleet, new AbortController().signal), parseInput(operation, input))
      if (operation.needsFleet) await wake()
      return answer as T
    },
    async *stream<T>(name: string, input: object, signal: AbortSignal) {
      const operation = await operationOf(name)
      if (operation.kind !== 'stream') throw new InvalidInput('operation', `${name} is not a stream`)
      if (server) {
        const { httpClient } = await import('./client-http.ts')
        yield* httpClient(server.url, home.token).stream<T>(name, input, signal)
      } else yield* operation.run(context(fleet, signal), parseInput(operation, input)) as AsyncIterable<Item<T>>
    },
    wake,
    close() {
      if (store.unreadable.size) where.note(unreadable([...store.unreadable]))
      return fleet.close()
    },
  }
}

const unreadable = (names: string[]): string =>
  `The store has ${names.length === 1 ? 'a record' : `${names.length} records`} that cannot be read, so no list shows: ${names.join(', ')}. What to do: fleet doctor`

const context = (fleet: Fleet, signal: AbortSignal): Context => ({ fleet, caller: { kind: 'owner' }, signal })

/** A missing or older store is brought up to date under the lease, which is let go at once. */
async function openStore(home: Home): Promise<Store> {
  try {
    return await openSqlite(home.storeFile, { migrate: false })
  } catch (error) {
    if (!(error instanceof StoreOutdated)) throw error
    const lease = takeLease(home.path)
    if (!lease) return openOnceReady(home, error)
    try {
      return await openSqlite(home.storeFile, { migrate: true })
    } finally {
      lease.release()
    }
  }
}

const READY_MS = 5000

/** Someone else holds the home and is bringing the store up to date right now. */
async function openOnceReady(home: Home, cause: StoreOutdated): Promise<Store> {
  for (const start = Date.now(); Date.now() - start < READY_MS; await new Promise(resolve => setTimeout(resolve, 50))) {
    const store = await openSqlite(home.storeFile, { migrate: false }).catch(error => {
      if (error instanceof StoreOutdated) return undefined
      throw error
    })
    if (store) return store
  }
  throw new Unfit('Another process holds this home and has not made its store ready.', { try: 'fleet status', cause })
}
