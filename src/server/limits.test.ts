import { expect, test } from 'vitest'
import {
  Buckets,
  FAILED_SIGN_INS,
  Limits,
  MOST_STREAMS,
  MOST_UNDER_WAY,
  PASSWORDS_FOR_NAME,
  REQUESTS,
} from './limits.ts'

const at = (buckets: Buckets, name: string, times: number, nowMs: number): number =>
  Array.from({ length: times }, () => buckets.take(name, nowMs)).filter(wait => wait === 0).length

test('a bucket gives its burst at once, then so many a second, and never more than the burst', () => {
  const buckets = new Buckets({ burst: 5, perSecond: 2 })
  expect(at(buckets, 'a', 20, 0)).toBe(5)
  expect(buckets.take('a', 0)).toBe(500)
  expect(at(buckets, 'a', 20, 1000)).toBe(2)
  expect(at(buckets, 'a', 20, 3_600_000)).toBe(5)
  // A clock that goes back gives nothing away.
  expect(at(buckets, 'a', 20, 0)).toBe(0)
})

test('one name does not use up what another has, and names do not pile up', () => {
  const buckets = new Buckets({ burst: 2, perSecond: 1 })
  expect(at(buckets, 'flood', 100, 0)).toBe(2)
  expect(at(buckets, 'other', 2, 0)).toBe(2)
  for (let name = 0; name < 30_000; name++) buckets.take(`name ${name}`, 0)
  // Forgotten, so it starts again.
  expect(buckets.take('flood', 0)).toBe(0)
})

test('people are limited, the owner is not, and guesses are slowed down', () => {
  const limits = new Limits()
  const ada = { kind: 'person', id: 'ada', name: 'Ada', grants: [], limit: null } as const
  const many = (times: number, ask: () => void) => {
    let refused = 0
    for (let time = 0; time < times; time++)
      try {
        ask()
      } catch {
        refused++
      }
    return refused
  }
  expect(many(REQUESTS.burst * 3, () => limits.require(ada))).toBeGreaterThan(REQUESTS.burst)
  expect(many(50, () => limits.require({ ...ada, id: 'bob' }))).toBe(0)
  expect(many(10_000, () => limits.require({ kind: 'owner' }))).toBe(0)
  expect(many(FAILED_SIGN_INS.burst + 50, () => limits.noteFailedSignIn('10.0.0.1'))).toBeGreaterThanOrEqual(49)
  expect(many(5, () => limits.noteFailedSignIn('10.0.0.2'))).toBe(0)
})

test('a password is tried so often for one name, from whatever address', () => {
  const limits = new Limits()
  const guess = (address: string) => {
    try {
      limits.requirePasswordTry(address, 'Ada')
      return 'tried'
    } catch {
      return 'refused'
    }
  }
  const guesses = Array.from({ length: PASSWORDS_FOR_NAME.burst + 50 }, (_, index) => guess(`10.0.0.${index}`))
  expect(guesses.filter(each => each === 'tried').length).toBeLessThanOrEqual(PASSWORDS_FOR_NAME.burst + 1)
})

test('who has one address of IPv6 has a whole network, which counts once', () => {
  const limits = new Limits()
  const from = (address: string) => () => limits.noteFailedSignIn(address)
  for (let time = 0; time < FAILED_SIGN_INS.burst; time++) from(`2001:db8:0:1::${time.toString(16)}`)()
  for (const same of ['2001:DB8::1:a:b:c:d', '2001:0db8:0000:0001::', '[2001:db8:0:1::9]:443'])
    expect(from(same), same).toThrow('too often')
  for (const other of ['2001:db8:0:2::1', '2001:db8::1', '::1', '::ffff:10.0.0.1']) expect(from(other)).not.toThrow()
})

test('whoever guesses keeps nobody out of where they have signed in before', () => {
  const limits = new Limits()
  limits.requirePasswordTry('10.0.0.1', 'Ada')
  limits.notePassword('10.0.0.1', 'Ada')
  const guess = (address: string) => () => limits.requirePasswordTry(address, 'ada')
  for (let time = 0; time < PASSWORDS_FOR_NAME.burst * 2; time++)
    try {
      guess(`10.1.${time}.1`)()
    } catch {}
  expect(guess('10.2.0.1'), 'elsewhere').toThrow('too often')
  for (let time = 0; time < FAILED_SIGN_INS.burst * 2; time++)
    try {
      limits.noteFailedSignIn('10.0.0.1')
    } catch {}
  expect(guess('10.0.0.1'), 'there').not.toThrow()
  // There they may guess no more often than anywhere else.
  for (let time = 1; time < FAILED_SIGN_INS.burst; time++) guess('10.0.0.1')()
  expect(guess('10.0.0.1')).toThrow('too often')
})

test('streams of one person are bounded, and one that ends makes room', () => {
  const limits = new Limits()
  const ada = { kind: 'person', id: 'ada', name: 'Ada', grants: [], limit: null } as const
  const open = Array.from({ length: MOST_STREAMS }, () => limits.openStream(ada))
  expect(() => limits.openStream(ada)).toThrow('open already')
  limits.openStream({ ...ada, id: 'bob' })
  open[0]!()
  limits.openStream(ada)
  expect(() => limits.openStream(ada)).toThrow('open already')
})

test('requests under way are bounded for each, and each of a batch counts', () => {
  const limits = new Limits()
  const ada = { kind: 'person', id: 'ada', name: 'Ada', grants: [], limit: null } as const
  const agent = { kind: 'session', session_id: 's', mission_id: 'm', project_id: 'p' } as const
  for (const caller of [ada, agent]) {
    const begun = Array.from({ length: MOST_UNDER_WAY }, () => limits.begin(caller))
    expect(() => limits.begin(caller)).toThrow('under way already')
    begun[0]!()
    limits.begin(caller)
    expect(() => limits.begin(caller)).toThrow('under way already')
  }
  limits.begin({ ...ada, id: 'bob' })
  for (let time = 0; time < 1000; time++) limits.begin({ kind: 'owner' })
  expect(() => limits.require(ada, REQUESTS.burst + 1)).toThrow('too often')
  limits.require({ ...ada, id: 'bob' }, REQUESTS.burst)
})
