import { expect, test } from 'vitest'
import type { Mission } from '../../live/mending.ts'
import { inQueueOrder } from './columns.ts'
import { prioritiesFor, type Queued } from './priorities.ts'

const queued = (id: string, priority: number, minute: number): Queued => ({
  id,
  priority,
  queued_at: `2026-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`,
})
const SAME = ['a', 'b', 'c', 'd'].map((id, minute) => queued(id, 0, minute))

/** The queue as it would be with these priorities. */
const after = (queue: readonly Queued[], changes: ReadonlyMap<string, number>): string =>
  queue
    .map(each => ({ ...each, priority: changes.get(each.id) ?? each.priority }))
    .toSorted((one, other) => inQueueOrder(one as Mission, other as Mission))
    .map(({ id }) => id)
    .join('')

test('to the top and to the bottom takes one change', () => {
  expect(prioritiesFor(SAME, 'd', 0)).toEqual(new Map([['d', 1]]))
  expect(prioritiesFor(SAME, 'a', 3)).toEqual(new Map([['a', -1]]))
})

test('into the middle raises what would otherwise come after it', () => {
  const changes = prioritiesFor(SAME, 'd', 1)!
  expect(after(SAME, changes)).toBe('adbc')
  expect(changes).toEqual(
    new Map([
      ['d', 1],
      ['a', 1],
    ]),
  )
})

test('where its priority already fits, nothing changes', () => {
  expect(prioritiesFor(SAME, 'b', 1)).toEqual(new Map())
})

test('every place of a mixed queue can be reached', () => {
  const queue = [queued('a', 5, 9), queued('b', 2, 1), queued('c', 2, 4), queued('d', 0, 0), queued('e', -3, 7)]
  for (const { id } of queue)
    for (let place = 0; place < queue.length; place++) {
      const wanted = queue
        .map(each => each.id)
        .filter(each => each !== id)
        .toSpliced(place, 0, id)
        .join('')
      expect(after(queue, prioritiesFor(queue, id, place)!), `${id} to ${place}`).toBe(wanted)
    }
})

test('beyond the highest priority there is no place', () => {
  expect(prioritiesFor([queued('a', 1000, 0), queued('b', 0, 1)], 'b', 0)).toBeUndefined()
})
