import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { storeContract } from './contract.testkit.ts'
import { memoryStore } from './memory/engine.ts'
import { openSqlite } from './sqlite/engine.ts'

const folder = mkdtempSync(join(tmpdir(), 'fleet-store-'))
afterAll(() => rmSync(folder, { recursive: true }))

let opened = 0
storeContract('sqlite', () => openSqlite(join(folder, `${opened++}.db`), { migrate: true }))
storeContract('memory', async () => memoryStore())
storeContract('hostile memory', async () => memoryStore({ hostile: { seed: ++opened } }))
