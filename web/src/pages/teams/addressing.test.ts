import { expect, test } from 'vitest'
import { addressesIn, addressesOf, reachOf, reachWords, setGoingWords, typingAt } from './addressing.ts'
import { threadsOf } from './threads.ts'
import type { Delivery, Mail, Member } from './words.ts'

const member = (handle: string, more: Partial<Member> = {}): Member =>
  ({ id: `id-${handle}`, handle, role: 'worker', person: null, state: 'idle', ...more }) as Member
const operator = member('operator', { role: 'team-lead', person: 'person' })
const members = [
  member('ada'),
  member('bob', { state: 'working' }),
  member('cy', { state: 'paused', role: 'merger' }),
  operator,
]
const team = { members, paused: false }
const me = operator.id

test('names, roles and all are offered; groups only to those who may broadcast', () => {
  const puts = (mayBroadcast: boolean) => addressesOf(members, me, mayBroadcast).map(({ put }) => put)
  expect(puts(true)).toEqual(['@ada', '@bob', '@cy', '@all', '@worker', '@merger'])
  expect(puts(false)).toEqual(['@ada', '@bob', '@cy'])
})

test('the address at the cursor is completed, with or without its sign', () => {
  expect(typingAt('@ada, @Bo', 9)).toEqual({ from: 6, text: 'bo' })
  expect(typingAt('@ada b', 6)).toEqual({ from: 5, text: 'b' })
  expect(typingAt('@ada ', 5)).toEqual({ from: 5, text: '' })
})

test('members are named without a sign, so that they are no broadcast', () => {
  expect(addressesIn('@Ada, bob worker; @all @ada', members)).toEqual(['ada', 'bob', '@worker', '@all'])
})

test('before it is sent, the page says who is reached and who wakes', () => {
  const words = (to: string, wakes = true, paused = false) =>
    reachWords(reachOf(addressesIn(to, members), { members, paused }, { me, wakes }))
  expect(words('@all')).toBe('To 3 members; 1 member wakes.')
  expect(words('@ada')).toBe('To ada; it wakes.')
  expect(words('@ada', false)).toBe('To ada; wakes nobody.')
  expect(words('@all', true, true)).toBe('To 3 members; wakes nobody.')
  expect(words('@operator')).toBe('')
  expect(words('@ada @eve')).toBe('Nobody here is called eve.')
  expect(reachOf(['ada', '@worker'], team, { me, wakes: true }).recipients).toHaveLength(2)
})

test('messages are conversations, the one that was written in last first', () => {
  const mail = (id: string, thread: string, subject = ''): Mail => ({ id, thread, subject, created_at: id }) as Mail
  const threads = threadsOf([mail('4', '1', 'Re: Tide'), mail('3', '2'), mail('2', '2'), mail('1', '1', 'Tide')])
  expect(threads.map(({ id, subject, isWhole }) => [id, subject, isWhole])).toEqual([
    ['1', 'Tide', true],
    ['2', '', true],
  ])
  expect(threads[0]!.messages.map(({ id }) => id)).toEqual(['1', '4'])
  expect(threadsOf([mail('4', '1', 'Re: Tide')])[0]).toMatchObject({ subject: 'Tide', isWhole: false })
})

test('a message to several says what it probably costs, if that is known', () => {
  const said = (wakes: number, likely_cost_usd: number | null, recipients = 3) =>
    setGoingWords({ deliveries: Array<Delivery>(recipients), wakes, likely_cost_usd })
  expect(said(2, 0.5)).toBe('Sent. 2 members wake; by their last sessions that costs about $0.50.')
  for (const nothing of [said(2, null), said(2, 0), said(0, null), said(1, 0.5, 1)]) expect(nothing).toBe('')
})
