import { expect, test } from 'vitest'
import { NOW } from '../domain/samples.testkit.ts'
import { faultsOf } from './faults.ts'
import { aFleet } from './fleet.testkit.ts'
import { keep } from './records.testkit.ts'

test('what stops a whole part of the fleet is shown, however many records are stuck', async () => {
  const fleet = aFleet()
  const fault = { reactor: 'store', since: NOW, tries: 1, reason: 'damaged', tried_at: NOW, next_try_at: NOW }
  for (let from = 0; from < 160; from += 40) {
    const some = Array.from({ length: 40 }, (_, i) => from + i)
    await keep(fleet, 'faults', ...some.map(i => ({ ...fault, id: `f${i}`, record: `missions/m${i}` })))
  }
  const since = new Date(Date.parse(NOW) + 60_000).toISOString()
  await keep(fleet, 'faults', { ...fault, id: 'all', reactor: 'dispatch', record: null, since })
  const faults = await faultsOf(fleet)
  expect(faults).toHaveLength(100)
  expect(faults[0]).toMatchObject({ reactor: 'dispatch' })
})
