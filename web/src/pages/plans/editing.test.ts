import { expect, test } from 'vitest'
import { added, connected, disconnected, type Planned, removed } from './editing.ts'

const mission = (key: string, ...depends_on: string[]): Planned => ({ ...added([]).plan[0]!, key, depends_on })
const chain = [mission('a'), mission('b', 'a'), mission('c', 'b')]
const needs = (plan: readonly Planned[] | undefined) => plan?.map(({ key, depends_on }) => `${key}<${depends_on}`)

test('a mission that is taken out hands on what it waited for', () => {
  expect(needs(removed(chain, 'b'))).toEqual(['a<', 'c<a'])
  expect(needs(removed([...chain, mission('d', 'a', 'b')], 'b'))).toEqual(['a<', 'c<a', 'd<a'])
})

test('a line that would close a circle is not drawn, and neither is one from a mission to itself', () => {
  expect(connected(chain, 'c', 'a')).toBeUndefined()
  expect(connected(chain, 'a', 'a')).toBeUndefined()
  expect(needs(connected(chain, 'a', 'c'))).toEqual(['a<', 'b<a', 'c<b,a'])
})

test('a line drawn twice is one, and can be taken away', () => {
  expect(needs(connected(chain, 'a', 'b'))).toEqual(['a<', 'b<a', 'c<b'])
  expect(needs(disconnected(chain, 'a', 'b'))).toEqual(['a<', 'b<', 'c<b'])
})

test('a new mission has a key of its own', () => {
  const { plan, key } = added([mission('m2')])
  expect(key).toBe('m3')
  expect(plan).toHaveLength(2)
})
