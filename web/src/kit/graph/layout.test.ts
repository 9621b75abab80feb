import { expect, test } from 'vitest'
import { placesOf } from './layout.ts'

test('what comes first stands before what waits for it, and nothing lies on anything else', () => {
  const places = placesOf(
    ['a', 'b', 'c', 'd'],
    [
      { from: 'a', to: 'b' },
      { from: 'a', to: 'c' },
      { from: 'b', to: 'd' },
      { from: 'c', to: 'd' },
    ],
    'LR',
  )
  const x = (id: string) => places.get(id)!.x
  expect(x('a')).toBeLessThan(x('b'))
  expect(x('b')).toBe(x('c'))
  expect(x('c')).toBeLessThan(x('d'))
  expect(new Set([...places.values()].map(place => JSON.stringify(place))).size).toBe(4)
})

test('a line to something that is not shown is no reason to fail', () => {
  expect(placesOf(['a'], [{ from: 'gone', to: 'a' }], 'TB').size).toBe(1)
})
