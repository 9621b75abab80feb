import { expect, test } from 'vitest'
import { NOW } from '../samples.testkit.ts'
import { diskReason, sizeInWords, worktreeExpiry } from './disk.ts'

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1300, '1.3 KB'],
  [1_340_000_000, '1.3 GB'],
  [250_000_000_000, '250 GB'],
])('%i bytes are %s', (bytes, words) => expect(sizeInWords(bytes)).toBe(words))

test('a new mission waits once the limit is reached; one that has worked before continues', () => {
  const full = { usedBytes: 10, limitBytes: 10 }
  expect(diskReason({ session_id: null }, full)).toContain('use 10 B of 10 B')
  expect(diskReason({ session_id: 's1' }, full)).toBeNull()
  expect(diskReason({ session_id: null }, { ...full, usedBytes: 9 })).toBeNull()
  expect(diskReason({ session_id: null }, null)).toBeNull()
})

const ended = { status: 'failed', ended_at: NOW, taken_over: null }
const in7Days = new Date(Date.parse(NOW) + 7 * 24 * 3_600_000).toISOString()

test.each([
  [ended, 7, in7Days],
  [{ ...ended, status: 'cancelled' }, 0, NOW],
  [ended, null, null],
  [{ ...ended, status: 'review' }, 7, null],
  [{ ...ended, status: 'done' }, 7, null],
  [{ ...ended, ended_at: null }, 7, null],
  [{ ...ended, taken_over: { by: 'me' } }, 7, null],
])('the worktree of %o is kept for %s days, until %s', (mission, days, until) =>
  expect(worktreeExpiry(mission, days)).toBe(until),
)
