import { describe } from 'vitest'
import { storeContract } from '../contract.testkit.ts'
import { openStore } from '../open.ts'
import { aSchema, SHARED, WHY_SKIPPED } from './schema.testkit.ts'

describe.skipIf(!SHARED)(`with a real server${SHARED ? '' : ` (${WHY_SKIPPED})`}`, () => {
  storeContract('postgresql', () => openStore(aSchema(), { migrate: true }))
})
