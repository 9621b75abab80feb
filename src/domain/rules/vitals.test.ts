import { expect, test } from 'vitest'
import { awaitsModel, type Signs, Vitals } from './vitals.ts'

const quiet = (at: number, more: Partial<Signs> = {}): Signs => ({
  at,
  said: 10,
  printed: 5,
  awaitsModel: false,
  cpu: at / 1000,
  processes: '1',
  written: 0,
  ...more,
})

test('an agent without any sign of life is idle for as long as that lasts', () => {
  const vitals = new Vitals()
  expect([0, 2000, 4000, 60_000].map(at => vitals.observe(quiet(at)))).toEqual([0, 2000, 4000, 60_000])
})

test.each<[string, Partial<Signs>]>([
  ['says something', { said: 11 }],
  ['prints', { printed: 6 }],
  ['computes', { cpu: 1000 }],
  ['starts or ends a process', { processes: '1,2' }],
  ['writes a file', { written: 4096 }],
])('one that %s is alive', (_what, sign) => {
  const vitals = new Vitals()
  vitals.observe(quiet(0))
  expect(vitals.observe(quiet(60_000, sign))).toBe(0)
})

test('waiting for a person does not count', () => {
  const vitals = new Vitals()
  vitals.observe(quiet(0))
  vitals.forgive(60_000)
  expect(vitals.observe(quiet(61_000))).toBe(1000)
})

test.each<[string, Partial<Signs>]>([
  ['its client writes a few bytes', { written: 4096 }],
  ['its client prints beside the conversation', { printed: 6 }],
  ['its client has a process more or less', { processes: '1,2' }],
  ['its client keeps house', { cpu: 600 }],
])('while it waits for its model, %s and is idle all the same', (_what, sign) => {
  const vitals = new Vitals()
  vitals.observe(quiet(0, { awaitsModel: true }))
  expect(vitals.observe(quiet(60_000, { ...sign, awaitsModel: true }))).toBe(60_000)
})

test.each<[string, Partial<Signs>]>([
  ['a piece of an answer, or what a person said', { said: 11 }],
  ['a client that computes', { cpu: 3000 }],
])('while it waits for its model, %s is life', (_what, sign) => {
  const vitals = new Vitals()
  vitals.observe(quiet(0, { awaitsModel: true }))
  expect(vitals.observe(quiet(60_000, { ...sign, awaitsModel: true }))).toBe(0)
})

test.each<[boolean, string, Parameters<typeof awaitsModel>]>([
  [true, 'nothing else is going on', ['conversation', { conversation: 'c', result: null, openTools: 0 }]],
  [false, 'a tool is at work', ['conversation', { conversation: 'c', result: null, openTools: 1 }]],
  [false, 'its turn is over', ['conversation', { conversation: 'c', result: {}, openTools: 0 }]],
  [false, 'it has not begun', ['conversation', { conversation: null, result: null, openTools: 0 }]],
  [false, 'it does not tell its tools', ['processes', { conversation: 'c', result: null, openTools: 0 }]],
])('waits for its model: %s, where %s', (is, _why, args) => {
  expect(awaitsModel(...args)).toBe(is)
})
