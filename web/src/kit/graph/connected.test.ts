import { expect, test } from 'vitest'
import { connected } from './connected.ts'

test('what stands alone is left out', () => {
  const nodes = ['a', 'b', 'c', 'd'].map(id => ({ id }))
  expect(
    connected(nodes, [
      { from: 'a', to: 'c' },
      { from: 'd', to: 'd' },
    ]),
  ).toEqual([{ id: 'a' }, { id: 'c' }])
})
