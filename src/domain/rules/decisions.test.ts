import { expect, test } from 'vitest'
import { ALLOWS, answerInWords, answerTo, DENIES, decisionIn } from './decisions.ts'

const spellings = (word: string): string[] => [
  word,
  word.toUpperCase(),
  word[0]!.toUpperCase() + word.slice(1),
  `  ${word}\n`,
  `\t${word} `,
]

test.each(['allow', 'yes', 'y', 'approve'])('%s allows, in any case and with space around it', word => {
  for (const spelling of spellings(word)) expect(decisionIn(spelling), JSON.stringify(spelling)).toBe('allow')
})

test.each(['deny', 'no', 'n', 'reject'])('%s denies, in any case and with space around it', word => {
  for (const spelling of spellings(word)) expect(decisionIn(spelling), JSON.stringify(spelling)).toBe('deny')
})

const NEITHER = [
  ...[
    '',
    ' ',
    'maybe',
    'no, do not',
    'yes, but',
    'not allowed',
    'allow?',
    'yes or no',
    'do not allow',
    'yesno',
    'nope',
  ],
  ...['noyes', 'no yes', 'yes no', 'n/y', 'y\0', 'ye s', 'true', '1', '0', 'false', 'null', 'undefined', 'constructor'],
  ...['ja', 'nein', 'oui', 'да', 'ｙｅｓ', 'уеs', 'YES\u200b', 'y\u0301', 'o\u212a', '__proto__', 'toString', 'always'],
]
test.each(NEITHER)('%j decides nothing', words => {
  expect(decisionIn(words)).toBeUndefined()
})

test('no word both allows and denies', () => {
  expect(ALLOWS.filter(word => (DENIES as readonly string[]).includes(word))).toEqual([])
})

/** The same sequence every time, so that a failure can be reproduced. */
function* randoms(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    yield state / 2 ** 32
  }
}

test('a property: no text other than the listed words, in any case, is ever an allow', () => {
  const random = randoms(11)
  const next = (below: number): number => Math.floor(random.next().value! * below)
  const pieces = [
    ...[...ALLOWS, ...DENIES],
    ...['not', 'do', 'Yes', 'NO', 'maybe', ' ', '\n', ',', '.', '!', '?', '\u00a0', '\ufeff', '\0', '\u212a', 'İ', 'ı'],
    ...['\u200b', '\u202e', '"', "'", '-', '_', '/', '0', '1', 'ß', 'ſ'],
  ]
  let allowed = 0
  for (let round = 0; round < 20_000; round++) {
    const parts = Array.from({ length: 1 + next(3) }, () =>
      next(8) === 0 ? String.fromCodePoint(next(0xd7ff)) : pieces[next(pieces.length)]!,
    )
    const words = parts.join('')
    const decision = decisionIn(words)
    // Stated differently from the rule itself: letter by letter, in the plain alphabet.
    const letters = Array.from(words.trim(), each =>
      each >= 'A' && each <= 'Z' ? String.fromCharCode(each.charCodeAt(0) + 32) : each,
    ).join('')
    expect(decision === 'allow', JSON.stringify(words)).toBe(ALLOWS.some(word => word === letters))
    if (decision === 'allow') allowed++
  }
  expect(allowed).toBeGreaterThan(100)
})

test.each([
  ['permission', { decision: 'allow' as const, text: null }, 'allow'],
  ['permission', { decision: 'deny' as const, text: 'not there' }, 'deny: not there'],
  ['question', { decision: 'allow' as const, text: 'no' }, 'no'],
  ['question', { decision: 'deny' as const, text: null }, 'no'],
  ['interruption', { decision: 'allow' as const, text: 'go on with the mast' }, 'go on with the mast'],
])('an answer to a %s is told as it was given', (kind, answer, words) => {
  expect(answerInWords({ kind, answer })).toBe(words)
})

const asked = (kind: 'permission' | 'question' | 'interruption', through: 'client' | 'tool' = 'client') => ({
  id: 'q1',
  kind,
  through,
})

test('a permission needs a decision; words alone decide nothing', () => {
  expect(answerTo(asked('permission'), { decision: 'Yes' })).toEqual({ decision: 'allow', text: null })
  expect(answerTo(asked('permission'), { decision: 'no', text: 'not now' })).toEqual({
    decision: 'deny',
    text: 'not now',
  })
  for (const given of [{}, { text: 'yes' }, { text: 'go ahead' }])
    expect(() => answerTo(asked('permission'), given)).toThrow('words alone do not decide')
  expect(() => answerTo(asked('permission'), { decision: 'sure', text: 'yes' })).toThrow('is not a decision')
})

test('a question needs words; only through our own tool a plain yes is an answer', () => {
  expect(answerTo(asked('question'), { text: 'Left.' })).toEqual({ decision: 'allow', text: 'Left.' })
  expect(answerTo(asked('question'), { decision: 'no' })).toEqual({ decision: 'deny', text: null })
  expect(() => answerTo(asked('question'), { decision: 'yes' })).toThrow('it asks for words')
  expect(() => answerTo(asked('question'), { text: '  ' })).toThrow('it asks for words')
  expect(answerTo(asked('question', 'tool'), { decision: 'yes' })).toEqual({ decision: 'allow', text: null })
  expect(answerTo(asked('interruption'), { decision: 'yes' })).toEqual({ decision: 'allow', text: null })
})
