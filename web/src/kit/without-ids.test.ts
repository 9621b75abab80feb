import { expect, test } from 'vitest'
import { diskReason } from '../../../src/domain/rules/disk.ts'
import { asSentence, reasonIn, withoutIds } from './without-ids.ts'

test('ids of missions are left out of a sentence, and other words in brackets stay', () => {
  const text = 'waiting for Make a (small) boat (0a1b2c3d4e5f), Paint it (improvements)'
  expect(withoutIds(text, new Set(['0a1b2c3d4e5f']))).toBe('waiting for Make a (small) boat, Paint it (improvements)')
  expect(reasonIn([{ text, on: ['0a1b2c3d4e5f'] }])).not.toContain('0a1b')
  expect(reasonIn([{ text }])).toBe(`W${text.slice(1)}`)
  expect(reasonIn([])).toBeUndefined()
  for (const text of ['mira is at work on something else', 'main moved each time', 'Its work waits for review.'])
    expect(reasonIn([{ text }])).toBe(text)
})

test('a reason on the page has no command of the terminal', () => {
  const share = { usedBytes: 3e9, limitBytes: 2e9 }
  const text = diskReason({ sessions: 0, session_id: null } as never, share as never)!
  expect(text).toContain('fleet clean')
  expect(asSentence(text)).toMatch(/^Waiting: the worktrees of its project use \S+ \S+ of \S+ \S+$/)
  expect(asSentence('waiting for a free slot: the fleet is full')).toBe('Waiting for a free slot: the fleet is full')
})
