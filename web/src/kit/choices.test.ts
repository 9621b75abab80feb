import { expect, test } from 'vitest'
import { KINDS, PRESETS, valueWords } from './choices.ts'

test('a value is said in the words of its field, and a number as it is', () => {
  expect(valueWords('landing', 'auto')).toBe('Automatically, when checks pass')
  expect(valueWords('tool_preset', 'full')).toBe('Full')
  expect(valueWords('approvals', 'ask')).toBe('Ask a person')
  expect(valueWords('engine', 'cli')).toBe('Command line')
  expect(valueWords('max_turns', 40)).toBe('40')
  for (const { value, label } of [...KINDS, ...PRESETS]) expect(label.toLowerCase()).toBe(value)
})
