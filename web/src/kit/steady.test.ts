import { expect, test } from 'vitest'
import { inSteadyOrder, type Steady } from './steady.ts'

interface Card {
  id: string
  word?: string
}
const shown = (list: Steady<Card>[]): string => list.map(({ id, gone }) => (gone ? `(${id})` : id)).join(' ')

test('what is looked at stays where it is, what leaves keeps its place, and what is new comes last', () => {
  const first = inSteadyOrder<Card>([], [{ id: 'a' }, { id: 'b' }, { id: 'c' }])
  const then = inSteadyOrder<Card>(first, [{ id: 'new' }, { id: 'c' }, { id: 'a', word: 'changed' }])
  expect(shown(then)).toBe('a (b) c new')
  expect(then[0]).toEqual({ id: 'a', word: 'changed' })
  // An item that comes back, such as a mission that was rejected and reconsidered, has its old place.
  expect(shown(inSteadyOrder<Card>(then, [{ id: 'b' }, { id: 'c' }]))).toBe('(a) b c (new)')
})
