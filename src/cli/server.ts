import type { Item } from '../operations/operation.ts'
import { homePath } from '../platform/home.ts'

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

/** The server that a person or the environment named; undefined: the one of the home, if any. */
export const namedServer = (where: Pick<Where, 'home' | 'url' | 'env'>): string | undefined =>
  where.url ?? (where.home ? undefined : where.env.FLEET_URL)

export const homeOf = (where: Pick<Where, 'home' | 'env'>): string =>
  where.home ? homePath({ FLEET_HOME: where.home }) : homePath(where.env)
