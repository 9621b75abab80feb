import { expect, test } from 'vitest'
import type { KeyPart } from './collections.ts'
import { encodeKey, rangeOf } from './keys.ts'

const inOrder = (keys: KeyPart[][]) => {
  const shuffled = keys.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? 1 : -1))
  return shuffled.sort((a, b) => encodeKey(a).compare(encodeKey(b)))
}

test('numbers sort as numbers: negative, fractional, huge and tiny', () => {
  const numbers = [-Infinity, -1e300, -1000, -2.5, -2, -1e-9, 0, 5e-324, 0.1, 1, 1.5, 2, 10, 2 ** 53, 1e300, Infinity]
  expect(inOrder(numbers.map(n => [n]))).toEqual(numbers.map(n => [n]))
  expect(encodeKey([-0])).toEqual(encodeKey([0]))
  expect(() => encodeKey([Number.NaN])).toThrow('NaN')
})

test('texts sort by their bytes, beyond the basic plane and with zeros in them', () => {
  const texts = [
    '',
    '\0',
    '\0\0',
    '\0a',
    '\x01',
    '\x01\x01',
    '\x02',
    ' ',
    'Z',
    'a',
    'a\0',
    'a\x01',
    'ab',
    'b',
    'é',
    '\u{ffee}',
    '💡',
  ]
  expect(inOrder(texts.map(text => [text]))).toEqual(texts.map(text => [text]))
})

test('a part never runs into the next one', () => {
  const keys = [
    ['a', 'b'],
    ['a', 'c'],
    ['a\0', 'a'],
    ['aa', 'a'],
    ['ab', ''],
  ]
  expect(inOrder(keys)).toEqual(keys)
})

test('a range holds what begins with the parts asked for, and nothing else', () => {
  const holds = (parts: KeyPart[], query: object) => {
    const { low, high } = rangeOf({ index: 'any', limit: 1, ...query })
    const key = encodeKey(parts)
    return low.compare(key) <= 0 && high.compare(key) > 0
  }
  expect(holds(['a', 1, 'id'], { equals: ['a'] })).toBe(true)
  expect(holds(['a\0', 1, 'id'], { equals: ['a'] })).toBe(false)
  expect(holds(['ab', 1, 'id'], { equals: ['a'] })).toBe(false)
  expect(holds(['a', -0.5, 'id'], { equals: ['a'], from: -0.5, below: 0 })).toBe(true)
  expect(holds(['a', 0, 'id'], { equals: ['a'], from: -0.5, below: 0 })).toBe(false)
  expect(holds(['abc', 'id'], { prefix: 'ab' })).toBe(true)
  expect(holds(['ab💡', 'id'], { prefix: 'ab' })).toBe(true)
  expect(holds(['ac', 'id'], { prefix: 'ab' })).toBe(false)
  expect(holds([5, 'id'], { prefix: '' })).toBe(false)
})
