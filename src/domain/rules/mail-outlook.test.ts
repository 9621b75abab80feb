import { describe, expect, test } from 'vitest'
import { Member } from '../records/team.ts'
import { aMission, NOW } from '../samples.testkit.ts'
import { FOR_MAIL } from './life.ts'
import { likelyCost, type Recipient, whyQueued } from './mail-outlook.ts'

const ada = (more: Partial<Member> = {}): Member =>
  Member.parse({
    ...{ id: 'a1', team_id: 't1', project_id: 'p1', handle: 'ada', role: 'worker', created_at: NOW, updated_at: NOW },
    ...more,
  })
const idle = aMission({ status: 'waiting', status_reason: FOR_MAIL })
const minutesAgo = (minutes: number): string => new Date(Date.parse(NOW) - minutes * 60_000).toISOString()

describe('why a message was not told yet', () => {
  const why = (more: Partial<Recipient>, wakes = true) =>
    whyQueued({ wakes }, { member: ada(), mission: idle, atWork: undefined, ahead: 0, ...more }, NOW)

  test('it is on its way, or a person reads it', () => {
    expect(why({})).toBeNull()
    expect(why({ atWork: { since: NOW, listens: true } })).toBeNull()
    expect(why({ member: ada({ person: 'person' }), mission: undefined, ahead: 50 })).toBeNull()
  })

  test('its recipient is in the middle of a turn that nothing interrupts', () => {
    const atWork = { since: minutesAgo(4.5), listens: false }
    expect(why({ atWork })).toBe('It waits for the end of a turn, 4 min so far.')
    expect(why({ atWork: { ...atWork, since: NOW } })).toBe('It waits for the end of a turn.')
  })

  test('its recipient is paused, held, failed, or not to be woken', () => {
    expect(why({ member: ada({ paused: true }) })).toBe('ada is paused.')
    expect(why({ member: ada({ held: { until: null, text: 'The team crew is paused.' } }) })).toMatch(/crew is paused/)
    const failed = aMission({ status: 'failed', status_reason: { code: 'exit', text: 'It ended with 1.' } })
    expect(why({ mission: failed })).toBe('It ended with 1.')
    expect(why({}, false)).toBe('It wakes nobody: it waits for the next turn of ada.')
    expect(why({ member: ada({ placement: 'outside' }) })).toMatch(/cannot be woken/)
  })

  test('its inbox is full', () => {
    expect(why({ ahead: 49 })).toBeNull()
    expect(why({ ahead: 50 })).toBe(
      'At least 50 messages came before it: ada is given so many at a time, and a list of the rest.',
    )
    expect(why({ ahead: 50, member: ada({ paused: true }) })).toMatch(/^ada is paused\. At least 50 messages/)
  })
})

test('the likely cost is the average of the last sessions of each', () => {
  expect(likelyCost([])).toBeNull()
  expect(likelyCost([[], []])).toBeNull()
  expect(likelyCost([[1, 3], [4]])).toBe(6)
  // Whoever never worked is taken to cost what the others do.
  expect(likelyCost([[1, 3], []])).toBe(4)
  expect(likelyCost([[0, 0]])).toBe(0)
})
