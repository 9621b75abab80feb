import { expect, test } from 'vitest'
import { Session } from '../../domain/records/session.ts'
import { aSession } from '../../domain/samples.testkit.ts'
import { aFleet } from '../fleet.testkit.ts'
import { put } from '../records.ts'
import { isHere, Superseded, updateSession } from './record.ts'

test('a session written before there were hosts is of this one, in its first generation', () => {
  const { host, generation, ...old } = aSession()
  const read = Session.parse({ ...old, node: 'local' })
  expect(read).toMatchObject({ host: null, generation: 1 })
  expect(isHere(aFleet(), read)).toBe(true)
})

test('the holder of an older generation changes nothing', async () => {
  const fleet = aFleet()
  await fleet.store.commit({ changes: [put('sessions', aSession({ generation: 2 }), 'absent')] })
  const stop = { stopping: { outcome: 'failed' as const, reason: 'late' } }
  const write = (generation: number) =>
    updateSession(fleet, { id: 's1', generation }, 'commit.session-stopping', stop, {})
  await expect(write(1)).rejects.toThrow(Superseded)
  expect((await fleet.store.get('sessions', 's1'))?.value.stopping).toBeNull()
  expect(await write(2)).toMatchObject(stop)
})
