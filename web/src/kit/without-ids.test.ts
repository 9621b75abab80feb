import { expect, test } from 'vitest'
import { reasonIn, withoutIds } from './without-ids.ts'

test('ids of missions are left out of a sentence, and other words in brackets stay', () => {
  const text = 'waiting for Make a (small) boat (0a1b2c3d4e5f), Paint it (improvements)'
  expect(withoutIds(text, new Set(['0a1b2c3d4e5f']))).toBe('waiting for Make a (small) boat, Paint it (improvements)')
  expect(reasonIn([{ text, on: ['0a1b2c3d4e5f'] }])).not.toContain('0a1b')
  expect(reasonIn([{ text }])).toBe(`W${text.slice(1)}`)
  expect(reasonIn([])).toBeUndefined()
})
