import type { Item } from '../operations/operation.ts'
import { type Home, homePath, openHome } from '../platform/home.ts'
import { VERSION } from '../platform/version.ts'

/** How a command asks for an operation, wherever that runs. */
export interface Client {
  call<T>(operation: string, input: object): Promise<T>
  stream<T>(operation: string, input: object, signal: AbortSignal): AsyncIterable<Item<T>>
  /** Sees to it that a server runs which carries out what was asked for. */
  wake(): Promise<void>
  close(): Promise<void>
}

export interface Where {
  home?: string
  url?: string
  env: NodeJS.ProcessEnv
  /** Told what a person should know that is no part of the answer. */
  note(line: string): void
}

export const homeOf = (where: Pick<Where, 'home' | 'env'>): string =>
  where.home ? homePath({ FLEET_HOME: where.home }) : homePath(where.env)

/**
 * A server that was named is asked (inside a session that is the one which started it, with the session's own token),
 * and so is a running one of another version. Otherwise the store is opened here: no server is needed to read and write it.
 */
export async function connect(where: Where): Promise<Client> {
  const url = where.url ?? (where.home ? undefined : where.env.FLEET_URL)
  if (url) return overHttp(url, where.env.FLEET_TOKEN ?? openHome(homeOf(where)).token)
  const home = openHome(homeOf(where))
  const running = await runningServer(home)
  if (running && running.version !== VERSION) return overHttp(running.url, home.token)
  const { localClient } = await import('./client-local.ts')
  return localClient(home, where, running)
}

async function overHttp(url: string, token: string): Promise<Client> {
  const { httpClient } = await import('./client-http.ts')
  return httpClient(url, token)
}

export interface Running {
  pid: number
  started: string
  version: string
  url: string
  settings: Record<string, string>
  flags: Record<string, string>
}

/** The server that holds the home now, if it already answers. */
export async function runningServer(home: Home): Promise<Running | undefined> {
  const { isHeld, readHolder } = await import('../store/index.ts')
  const holder = readHolder(home.path)
  return holder?.url && isHeld(home.path) ? { ...holder, url: holder.url } : undefined
}
