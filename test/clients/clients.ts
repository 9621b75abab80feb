import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CLIENTS, folderOf } from './pinned.mjs'

/** The real client in the cache; undefined until `node test/clients/install.mjs` has installed it. */
export function binaryOf(client: keyof typeof CLIENTS): string | undefined {
  const path = join(folderOf(CLIENTS[client]), 'node_modules', '.bin', client)
  return existsSync(path) ? path : undefined
}

export const claudeBinary = (): string | undefined => binaryOf('claude')

/** The folder of that client's SDK. */
export function claudeSdk(): string | undefined {
  const sdk = CLIENTS['claude-agent-sdk']
  const path = join(folderOf(sdk), 'node_modules', sdk.package)
  return existsSync(path) ? path : undefined
}

export const HOW_TO_INSTALL = 'the real client is not in the cache; install it with: node test/clients/install.mjs'
