import { givenBy, givenIn, withSettings } from '../config/sources.ts'
import { storeOf, withoutStore } from '../config/store.ts'
import type { Running } from '../daemon/running.ts'
import { InvalidInput, NotAllowed } from '../domain/errors.ts'
import { askedBeside, type Fleet, makeFleet } from '../fleet/fleet.ts'
import { lastConfiguration, lookAtConfiguration } from '../fleet/projects/configuration.ts'
import { audited } from '../operations/auditing.ts'
import type { Context, Item } from '../operations/operation.ts'
import { parseInput } from '../operations/shape.ts'
import type { Home } from '../platform/home.ts'
import { openKeys } from '../platform/keys.ts'
import { type Heartbeats, openToAsk, serverInWords } from '../store/index.ts'
import { operationOf } from './operation-of.ts'
import type { Client, Where } from './server.ts'

/** Runs operations in this process, on the home's own store. Actions that only the daemon does become wishes. */
export async function localClient(home: Home, where: Where, running: Running | undefined): Promise<Client> {
  // The settings of a running server apply to every command, whatever its shell has set.
  const choice = storeOf(home, where.env)
  const environment = withoutStore(running ? withSettings(where.env, running.settings) : where.env, choice)
  const store = await openToAsk(home, choice)
  const layers = { environment: givenIn(environment), flag: givenBy(running?.flags ?? {}) }
  const configuration = await lastConfiguration(store, layers)
  const made = makeFleet({ home, keys: openKeys(home), store, environment, configuration })
  lookAtConfiguration(made, { served: running !== undefined })
  const fleet = store.heartbeats ? askedBeside(made, filesAreElsewhere(store.heartbeats)) : made
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
        return httpClient(server.url, await fleet.keys.ownerToken()).call<T>(name, input)
      }
      if (operation.inServer && store.heartbeats) await requireNobodyDecides(store.heartbeats, operation.summary)
      const { signal } = new AbortController()
      const answer = await audited(
        operation,
        context(fleet, signal),
        () => input as Record<string, unknown>,
        async audit => operation.run(context(audit, signal), parseInput(operation, input)),
      )
      if (operation.needsFleet) await wake()
      return answer as T
    },
    async *stream<T>(name: string, input: object, signal: AbortSignal) {
      const operation = await operationOf(name)
      if (operation.kind !== 'stream') throw new InvalidInput('operation', `${name} is not a stream`)
      if (server) {
        const { httpClient } = await import('./client-http.ts')
        yield* httpClient(server.url, await fleet.keys.ownerToken()).stream<T>(name, input, signal)
      } else yield* operation.run(context(fleet, signal), parseInput(operation, input)) as AsyncIterable<Item<T>>
    },
    wake,
    close() {
      if (store.unreadable.size) where.note(unreadable([...store.unreadable]))
      return fleet.close()
    },
  }
}

/** Two would work in the same worktrees, or one in a home that does not have them. */
async function requireNobodyDecides(heartbeats: Heartbeats, what: string): Promise<void> {
  const { server, leftMs } = await heartbeats.held()
  if (leftMs > 0 && server)
    throw new NotAllowed(`${what}: this is for the server that decides, ${serverInWords(server)}.`, {
      try: server.url ? `Ask it: fleet --url ${server.url} …` : 'Ask again in a moment.',
    })
}

const filesAreElsewhere =
  (heartbeats: Heartbeats) =>
  async (what: string): Promise<NotAllowed> => {
    const { server } = await heartbeats.held()
    const where = server ? `: ${serverInWords(server)}` : ''
    return new NotAllowed(`${what} is kept in the home of the server that decides, which is another one${where}.`, {
      try: server?.url ? `Ask it: fleet --url ${server.url} …` : 'Ask there, or in its home.',
    })
  }

const unreadable = (names: string[]): string =>
  `The store has ${names.length === 1 ? 'a record' : `${names.length} records`} that cannot be read, so no list shows: ${names.join(', ')}. See fleet doctor`

const context = (fleet: Fleet, signal: AbortSignal): Context => ({
  ...{ fleet, signal },
  caller: { kind: 'owner' },
  from: { way: 'terminal' },
})
