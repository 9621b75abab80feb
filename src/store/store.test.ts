import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { storeContract } from './contract.testkit.ts'
import { openStore } from './open.ts'

const folder = mkdtempSync(join(tmpdir(), 'fleet-store-'))
afterAll(() => rmSync(folder, { recursive: true }))

let opened = 0
const migrate = true
storeContract('sqlite', () => openStore({ engine: 'sqlite', file: join(folder, `${opened++}.db`) }, { migrate }))
storeContract('memory', () => openStore({ engine: 'memory' }, { migrate }))
storeContract('hostile memory', () => openStore({ engine: 'memory', hostile: { seed: ++opened } }, { migrate }))
