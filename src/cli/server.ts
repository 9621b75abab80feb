import { NotAllowed } from '../domain/errors.ts'
import type { Item } from '../operations/operation.ts'
import { homePath } from '../platform/home.ts'
import { loginTo } from './logins.ts'

/** How a command calls an operation, here or on a server. */
export interface Client {
  call<T>(operation: string, input: object): Promise<T>
  stream<T>(operation: string, input: object, signal: AbortSignal): AsyncIterable<Item<T>>
  /** Makes sure that a server runs to carry out what was requested. */
  wake(): Promise<void>
  close(): Promise<void>
}

export interface Where {
  home?: string
  url?: string
  env: NodeJS.ProcessEnv
  /** Shows a line to the person that is not part of the answer. */
  note(line: string): void
}

/**
 * The server that a person or the environment named, or that this terminal is signed in to; undefined: the one of the
 * home, if any.
 */
export function namedServer({ home, url, env }: Pick<Where, 'home' | 'url' | 'env'>): string | undefined {
  if (url) return url
  if (home) return undefined
  return env.FLEET_URL || (env.FLEET_HOME ? undefined : loginTo(env)?.url)
}

/** For what works with the files of a home: it must be one of this machine. */
export function homeHere(where: Pick<Where, 'home' | 'url' | 'env'>, what: string): string {
  const named = namedServer(where)
  if (named)
    throw new NotAllowed(`${what} works with the files of a home, and ${named} is asked over the network.`, {
      try: 'Run it on the machine of that server, or name a home on this one: fleet --home <folder> …',
    })
  return homeOf(where)
}

export const homeOf = (where: Pick<Where, 'home' | 'env'>): string =>
  where.home ? homePath({ FLEET_HOME: where.home }) : homePath(where.env)
