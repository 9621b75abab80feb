import { expect, test } from 'vitest'
import { Unavailable } from '../port.ts'
import { aMission, anEvent } from '../samples.testkit.ts'
import { memoryStore } from './engine.ts'

test('a cursor of another store is told that events were missed', async () => {
  const [one, other] = [memoryStore(), memoryStore()]
  for (const store of [one, other]) await store.commit({ changes: [], events: [anEvent(), anEvent()] })
  expect(await one.events({ after: await one.tail(), limit: 5 })).toMatchObject({ events: [], reset: false })
  const page = await one.events({ after: await other.tail(), limit: 5 })
  expect(page).toMatchObject({ reset: true })
  expect(page.events).toHaveLength(2)
})

test('a commit that got no answer was written whole or not at all, and both happen', async () => {
  const store = memoryStore({ hostile: { seed: 3, silent: true } })
  const fates = { written: 0, not: 0 }
  for (let n = 0; n < 200; n++) {
    const [before, id] = [await store.tail(), `m${n}`]
    const silent = await store
      .commit({ changes: [{ put: 'missions', value: aMission(id), expects: 'absent' }], events: [anEvent()] })
      .then(
        () => false,
        error => error instanceof Unavailable,
      )
    if (!silent) continue
    const written = (await store.get('missions', id)) !== undefined
    expect((await store.events({ after: before, limit: 5 })).events).toHaveLength(written ? 1 : 0)
    fates[written ? 'written' : 'not']++
  }
  expect(fates).toEqual({ written: expect.any(Number), not: expect.any(Number) })
  expect(Math.min(fates.written, fates.not)).toBeGreaterThan(0)
})
