import { describe, expect, test } from 'vitest'
import { HEALTH_ACTS, HEALTHY, Health, type HealthAct, MemberMonitor, TeamMonitor } from '../records/health.ts'
import {
  actsOnQuiet,
  type HealthFacts,
  isWatched,
  judged,
  nextInWords,
  nudgedBy,
  patienceOf,
  quietInWords,
  settlesIn,
  type Trouble,
  withPause,
} from './health.ts'

const START = Date.parse('2026-01-01T00:00:00.000Z')
const at = (seconds: number): string => new Date(START + seconds * 1000).toISOString()
const PATIENCE = 300

const facts = (seconds: number, more: Partial<HealthFacts> = {}): HealthFacts => ({
  now: at(seconds),
  isWatched: true,
  trouble: null,
  isWell: false,
  possible: HEALTH_ACTS,
  patienceMs: PATIENCE * 1000,
  ...more,
})
const quiet = (n: number, since = 0): Trouble => ({ cause: 'quiet', since: at(since), text: 'Quiet.', sign: `s ${n}` })
const failed: Trouble = { cause: 'failed', since: at(0), text: 'It failed.', sign: 'm 1' }

/** Judges a history, and returns what was done. */
function played(history: readonly HealthFacts[]): { health: Health; acts: (HealthAct | null)[] } {
  let health = HEALTHY
  const acts = history.map(each => {
    const next = judged(health, each)
    health = next.health
    return next.act
  })
  return { health, acts }
}

describe('a silent member', () => {
  test('takes one step with each sign, the mildest first', () => {
    const history = [1, 2, 3, 4, 5, 6].map(n => facts(n * PATIENCE, { trouble: quiet(n) }))
    const { acts, health } = played(history)
    expect(acts).toEqual(['nudge', 'interrupt', 'restart', 'lead', 'people', null])
    expect(health.state).toBe('unhealthy')
    expect(nextInWords(health, HEALTH_ACTS)).toBeNull()
  })

  test('is degraded at first, and unhealthy once it must be restarted', () => {
    const states = [1, 2, 3].map(
      n => played([1, 2, 3].slice(0, n).map(i => facts(i, { trouble: quiet(i) }))).health.state,
    )
    expect(states).toEqual(['degraded', 'degraded', 'unhealthy'])
  })

  test('gets only what is possible', () => {
    const possible: HealthAct[] = ['nudge', 'people']
    const { acts } = played([1, 2, 3].map(n => facts(n, { trouble: quiet(n), possible })))
    expect(acts).toEqual(['nudge', 'people', null])
  })

  test('says what comes next', () => {
    const { health } = played([facts(1, { trouble: quiet(1) })])
    expect(nextInWords(health, HEALTH_ACTS)).toBe('If it stays quiet, it is interrupted.')
    expect(nextInWords(health, ['restart'])).toBe('If it stays quiet, it is restarted in the same conversation.')
  })

  test('is well again at a sign of life, and a new silence begins anew', () => {
    const { acts, health } = played([
      facts(1, { trouble: quiet(1) }),
      facts(2, { isWell: true }),
      facts(3, { trouble: quiet(2, 2) }),
    ])
    expect(acts).toEqual(['nudge', null, 'nudge'])
    expect(health.done).toHaveLength(1)
  })

  test('stays ill while nobody knows better', () => {
    expect(played([facts(1, { trouble: quiet(1) }), facts(2)]).health.state).toBe('degraded')
  })

  test('keeps what it has counted when it is well again', () => {
    const ill = { ...played([facts(1, { trouble: quiet(1) })]).health, restarts: 3, restarted: 's3', pauses: [4] }
    const { health } = judged(ill, facts(2, { isWell: true }))
    expect(health).toEqual({ ...HEALTHY, since: at(2), restarts: 3, restarted: 's3', pauses: [4] })
  })
})

describe('a member that is not started again', () => {
  test('its lead is told at once, and the people after a while', () => {
    const { acts } = played([0, 1, PATIENCE, PATIENCE + 1].map(n => facts(n, { trouble: failed })))
    expect(acts).toEqual(['lead', null, 'people', null])
  })

  test('after a machine has slept, the lead has its time all the same', () => {
    const slept = PATIENCE + 3600
    const { acts } = played([0, slept, slept + 1, slept + PATIENCE].map(n => facts(n, { trouble: failed })))
    expect(acts).toEqual(['lead', null, null, 'people'])
  })

  test('nothing is done about a crash that is tried again', () => {
    const crash: Trouble = { ...failed, cause: 'crash' }
    const { acts, health } = played([facts(0, { trouble: crash })])
    expect([acts, health.state]).toEqual([[null], 'degraded'])
  })

  test('a silence that ends in failure goes on where the steps were', () => {
    const { acts } = played([1, 2, 3].map(n => facts(n, { trouble: n < 3 ? quiet(n) : failed })))
    expect(acts).toEqual(['nudge', 'interrupt', 'lead'])
  })
})

test('a reminder of a person is the first step', () => {
  const unanswered: Trouble = { cause: 'unanswered', since: at(0), text: 'No answer.', sign: 'a' }
  const reminded = nudgedBy(HEALTHY, at(10))
  expect(judged(reminded, facts(PATIENCE, { trouble: unanswered })).act).toBeNull()
  expect(judged(nudgedBy(HEALTHY, at(-10)), facts(PATIENCE, { trouble: unanswered })).act).toBe('nudge')
  const nudged = judged(HEALTHY, facts(PATIENCE, { trouble: unanswered })).health
  expect(nudgedBy(nudged, at(PATIENCE + 1))).toBe(nudged)
})

test('nobody who is not watched is judged', () => {
  const ill = played([facts(1, { trouble: quiet(1) })]).health
  const { health, act } = judged(ill, facts(2, { trouble: quiet(2), isWatched: false }))
  expect([health.state, act]).toEqual(['healthy', null])
})

test.each([
  [true, {}, {}],
  [false, { on: false }, {}],
  [true, { on: false }, { monitor: MemberMonitor.parse({ on: true }) }],
  [false, {}, { monitor: MemberMonitor.parse({ on: false }) }],
  [false, {}, { placement: 'outside' as const }],
  [false, {}, { person: 'person' }],
  [false, {}, { dismissed_at: at(0) }],
])('watched is %s with %j for the team and %j for the member', (expected, team, member) => {
  const someone = { monitor: MemberMonitor.parse({}), placement: 'headless' as const, person: null, dismissed_at: null }
  expect(isWatched({ team: { monitor: TeamMonitor.parse(team) }, member: { ...someone, ...member } })).toBe(expected)
})

test('either the health of a member or the policy for stuck sessions acts', () => {
  expect(actsOnQuiet({ member_id: 'b' }, true)).toBe('health')
  expect(actsOnQuiet({ member_id: 'b' }, false)).toBe('session')
  expect(actsOnQuiet({ member_id: null }, true)).toBe('session')
})

describe('the patience with a member', () => {
  const patience = (of: { pauses?: number[]; member?: number; team?: number }, openTools = 0): number =>
    patienceOf(
      {
        team: { monitor: TeamMonitor.parse({ quiet_seconds: of.team ?? null }) },
        member: {
          monitor: MemberMonitor.parse({ quiet_seconds: of.member ?? null }),
          health: Health.parse({ pauses: of.pauses ?? [] }),
        },
      },
      { least: 300, openTools },
    ) / 1000

  test('follows its rhythm, within bounds', () => {
    expect(patience({})).toBe(300)
    expect(patience({ pauses: [10, 40] })).toBe(300)
    expect(patience({ pauses: [200, 20] })).toBe(600)
    expect(patience({ pauses: [20_000] })).toBe(3600)
  })

  test('is what was set, for the member before its team', () => {
    expect(patience({ pauses: [200], team: 60 })).toBe(60)
    expect(patience({ team: 60, member: 20 })).toBe(20)
  })

  test('is longer while a tool is at work', () => expect(patience({ team: 60 }, 1)).toBe(120))

  test('signs of life that a start makes do not count', () => {
    expect([2000, 60_000, 3_600_000].map(settlesIn)).toEqual([5000, 30_000, 60_000])
  })
})

test('the rhythm is learnt once from each session, and only where it matters', () => {
  const after = (health: Health, id: string, longest_pause: number) => withPause(health, { id, longest_pause }, 300)
  expect(after(HEALTHY, 's1', 50)).toBe(HEALTHY)
  const one = after(HEALTHY, 's1', 200)
  expect(one.pauses).toEqual([200])
  expect(after(one, 's1', 200)).toBe(one)
  let many = one
  for (let n = 2; n <= 11; n++) many = after(many, `s${n}`, 0)
  expect(many.pauses).toEqual(Array(10).fill(0))
})

test('silence is said with all its signs', () => {
  const words = quietInWords({ seconds: 300, openTools: 0, life: 'conversation', unread: 2 })
  expect(words).toBe(
    'It has shown no sign of life for 5 minutes: no output, no new process or file, and hardly any processor time. No tool is at work: it waits for its model. 2 messages wait for it.',
  )
  expect(quietInWords({ seconds: 90, openTools: 1, life: 'processes', unread: 0 })).toContain('90 seconds')
})

/** Histories at random: whatever happens, in whatever order, and however often the same is looked at. */
test('a search for counterexamples: no step twice in an episode, none without a sign, none for nobody', () => {
  let seed = 20_261
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * below)
  }
  let episodes = 0
  for (let run = 0; run < 300; run++) {
    let health = HEALTHY
    let seconds = 0
    let signs = 0
    let done = new Set<HealthAct>()
    for (let n = 0; n < 60; n++) {
      seconds += [0, 1, PATIENCE, 40 * PATIENCE][random(4)]!
      signs += random(2)
      const troubles: (Trouble | null)[] = [
        null,
        null,
        quiet(signs, seconds - 5),
        { ...failed, sign: `f ${random(3)}` },
        { ...failed, cause: 'crash', sign: `c ${signs}` },
        { ...failed, cause: 'unanswered' },
      ]
      const look = facts(seconds, {
        trouble: troubles[random(troubles.length)]!,
        isWell: random(3) === 0,
        isWatched: random(12) > 0,
        possible: HEALTH_ACTS.filter(() => random(5) > 0),
      })
      const before = health
      const next = judged(health, look)
      health = next.health
      if (before.state === 'healthy') done = new Set()
      if (before.state === 'healthy' && health.state !== 'healthy') episodes++
      if (next.act) {
        expect(done.has(next.act), `${next.act} twice in an episode`).toBe(false)
        done.add(next.act)
        expect(look.isWatched && look.trouble !== null && look.possible.includes(next.act)).toBe(true)
        expect(health.done.at(-1)).toMatchObject({ act: next.act, at: look.now })
      }
      // A server that died after the commit looks at the same again.
      expect(judged(health, look)).toEqual({ health, act: null })
      expect(Health.parse(health)).toEqual(health)
    }
  }
  expect(episodes).toBeGreaterThan(1000)
})
