import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CLIENTS, folderOf } from './pinned.mjs'

/** The real client as the cache has it; undefined until `node test/clients/install.mjs` has put it there. */
export function claudeBinary(): string | undefined {
  const path = join(folderOf(CLIENTS.claude), 'node_modules', '.bin', 'claude')
  return existsSync(path) ? path : undefined
}

export const HOW_TO_INSTALL = 'the real client is not in the cache; install it with: node test/clients/install.mjs'
