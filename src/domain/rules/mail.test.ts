import { describe, expect, test } from 'vitest'
import { DELIVERY_STATES, Delivery, Member, Team } from '../records/team.ts'
import { NOW } from '../samples.testkit.ts'
import * as rules from './mail.ts'

const aDelivery = (more: Partial<Delivery> = {}): Delivery =>
  Delivery.parse({
    ...{ id: 'd1', mail_id: 'm1', team_id: 't1', project_id: 'p1', member_id: 'b1', from: 'a1', state: 'queued' },
    ...{ needs: 'reply', wakes: true, order: 1, created_at: NOW },
    ...more,
  })
const aMember = (handle: string, more: Partial<Member> = {}): Member =>
  Member.parse({
    ...{
      id: `id-${handle.toLowerCase()}`,
      team_id: 't1',
      project_id: 'p1',
      handle,
      role: 'worker',
      created_at: NOW,
      updated_at: NOW,
    },
    ...more,
  })
const later = (minutes: number): string => new Date(Date.parse(NOW) + minutes * 60_000).toISOString()

describe('who gets a message', () => {
  const team = [
    aMember('ada', { role: 'team-lead' }),
    aMember('bob'),
    aMember('Cleo'),
    aMember('dan', { dismissed_at: NOW }),
  ]
  const to = (...addresses: string[]) => rules.recipientsOf(addresses, team, 'id-ada').map(({ handle }) => handle)

  test('by name, by @name, by role, and all; each once, and never the sender', () => {
    expect(to('bob', '@bob', 'BOB')).toEqual(['bob'])
    expect(to('@worker')).toEqual(['bob', 'Cleo'])
    expect(to('@all', 'cleo')).toEqual(['bob', 'Cleo'])
    expect(rules.recipientsOf(['@team-lead'], team, 'id-bob').map(({ handle }) => handle)).toEqual(['ada'])
  })

  test('nobody is refused with the nearest names', () => {
    expect(() => to('bb')).toThrow(/no member "bb"/)
    expect(() => to('bb')).toThrow(expect.objectContaining({ hint: 'The team has bob.' }))
    expect(() => to('dan')).toThrow(/no member "dan"/)
    expect(() => to('ada')).toThrow(/Nobody but the sender/)
    expect(() => to('@merger')).toThrow(/no member "@merger"/)
  })
})

test('an overdue answer is told to the member, then to whoever it works for or the leads, then to people', () => {
  const team = [
    aMember('ada', { role: 'team-lead' }),
    aMember('bob'),
    aMember('cid', { works_for: 'id-bob' }),
    aMember('operator', { role: 'team-lead', person: 'person' }),
  ]
  const told = (handle: string, present = team) =>
    rules.LADDER.map(step =>
      rules.toldAt(step, team.find(each => each.handle === handle)!, present).map(each => each.handle),
    )
  expect(told('bob')).toEqual([['bob'], ['ada'], ['operator']])
  expect(told('cid')).toEqual([['cid'], ['bob'], ['operator']])
  expect(told('ada')).toEqual([['ada'], [], ['operator']])
  expect(told('operator')).toEqual([[], ['ada'], []])
  // Whoever it worked for has left.
  expect(
    told(
      'cid',
      team.filter(({ handle }) => handle !== 'bob'),
    ),
  ).toEqual([['cid'], ['ada'], ['operator']])
})

describe('whether mail wakes a member', () => {
  const team = Team.parse({ id: 't1', project_id: 'p1', name: 'crew', created_at: NOW, updated_at: NOW })
  const decide = (member: Member, queued = [aDelivery()], of = team) =>
    rules.wakingOf({ member, team: of, queued }, { wakesPerHour: 2 }, NOW)

  test('only if something in it does', () => {
    expect(decide(aMember('ada'))).toEqual({ wake: true })
    expect(decide(aMember('ada'), [aDelivery({ wakes: false })])).toEqual({ wake: false, held: null })
    expect(decide(aMember('ada'), [aDelivery({ wakes: false }), aDelivery()])).toEqual({ wake: true })
  })

  test('not while it or its team is paused, and only so often within an hour', () => {
    expect(decide(aMember('ada', { paused: true }))).toMatchObject({ held: { until: null } })
    expect(decide(aMember('ada'), [aDelivery()], { ...team, paused: true })).toMatchObject({ held: { until: null } })
    const woken = aMember('ada', { wakes: [later(-70), later(-50), later(-10)] })
    expect(decide(woken)).toMatchObject({ wake: false, held: { until: later(10) } })
    expect(decide({ ...woken, wakes: [later(-70), later(-60), later(-10)] })).toEqual({ wake: true })
  })
})

describe('agents that talk without end', () => {
  const limits = { maxHops: 2, perMinute: 3, wakesPerHour: 1 }
  const from = { member_id: 'a1', handle: 'ada', role: 'worker' }
  test('are held back after so many messages, and people never', () => {
    expect(rules.heldBack({ hops: 2, from }, { sentLately: 2, isAgent: true }, limits)).toBeNull()
    expect(rules.heldBack({ hops: 3, from }, { sentLately: 0, isAgent: true }, limits)).toMatch(
      /3 times in this thread/,
    )
    expect(rules.heldBack({ hops: 0, from }, { sentLately: 3, isAgent: true }, limits)).toMatch(/within a minute/)
    expect(rules.heldBack({ hops: 99, from }, { sentLately: 99, isAgent: false }, limits)).toBeNull()
  })
})

describe('acts on a delivery', () => {
  const open = ['queued', 'handed', 'heard']

  test.each(DELIVERY_STATES)('%s: what may follow', state => {
    const delivery = aDelivery({ state, closed_at: open.includes(state) ? null : NOW })
    const may = (act: () => unknown): boolean => {
      try {
        return act() !== undefined
      } catch {
        return false
      }
    }
    expect(may(() => rules.answered(delivery, 'acked', NOW))).toBe(open.includes(state))
    expect(may(() => rules.answered(delivery, 'declined', NOW))).toBe(open.includes(state))
    expect(may(() => rules.answered(delivery, 'replied', NOW))).toBe([...open, 'acked'].includes(state))
    expect(may(() => rules.withdrawn(delivery, NOW))).toBe(state === 'queued')
  })

  test('a message that needs nothing is over once it is heard', () => {
    expect(rules.isClosed(rules.heard(aDelivery({ needs: 'none' }), 'turn', NOW))).toBe(true)
    expect(rules.isClosed(rules.heard(aDelivery({ needs: 'ack' }), 'turn', NOW))).toBe(false)
  })
})

describe('after the session it was handed to', () => {
  const handed = rules.handed(aDelivery(), { session_id: 's1', via: 'prompt' }, NOW)
  const ended = (delivery: Delivery, completed: boolean, remembered = false) =>
    rules.afterSession(delivery, { completed, remembered }, NOW)

  test('one that ended well has heard its prompt', () => {
    expect(ended(handed, true)).toMatchObject({ state: 'heard', heard_by: 'turn' })
  })

  test('what was told during a turn and not confirmed is queued again, however the session ended', () => {
    const told = { ...handed, via: 'message' as const }
    for (const completed of [true, false])
      expect(ended(told, completed)).toMatchObject({ state: 'queued', session_id: null })
  })

  test('one that ended early returns what it heard, unless its conversation is continued', () => {
    const heard = rules.heard(handed, 'turn', NOW)
    expect(ended(handed, false)).toMatchObject({ state: 'queued' })
    expect(ended(heard, false)).toMatchObject({ state: 'queued' })
    expect(ended(heard, false, true)).toMatchObject({ state: 'heard', session_id: null })
  })

  test('what was answered stays answered', () => {
    const replied = rules.answered(handed, 'replied', NOW)
    expect(ended(replied, false)).toMatchObject({ state: 'replied', session_id: null })
  })

  test('a message that no session survives is held for a person', () => {
    const often = { ...handed, times_handed: 5 }
    expect(ended(often, false)).toMatchObject({ state: 'queued', held: expect.stringMatching(/handed over 5 times/) })
  })
})
