import { expect, test } from 'vitest'
import { compareTexts } from './compare.ts'
import { changedParts, pairsOf } from './pairs.ts'
import type { Hunk } from './parse.ts'

const written = (hunks: Hunk[]): string[] =>
  hunks.flatMap(({ oldStart, oldCount, newStart, newCount, lines }) => [
    `@@ -${oldStart},${oldCount} +${newStart},${newCount} @@`,
    ...lines.map(({ sign, text, unended }) => sign + text + (unended ? ' (no newline)' : '')),
  ])
const numbers = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}\n`)

test('what changed is shown with three lines around it, and what is far away is left out', () => {
  const after = numbers(30)
  after[4] = 'five\n'
  after.splice(24, 0, 'new\n')
  expect(written(compareTexts(numbers(30).join(''), after.join('')))).toEqual([
    '@@ -2,7 +2,7 @@',
    ' 2',
    ' 3',
    ' 4',
    '-5',
    '+five',
    ' 6',
    ' 7',
    ' 8',
    '@@ -22,6 +22,7 @@',
    ' 22',
    ' 23',
    ' 24',
    '+new',
    ' 25',
    ' 26',
    ' 27',
  ])
})

test('the shortest way is found, also from and to nothing', () => {
  expect(
    written(compareTexts('a\nb\nc\na\nb\nb\na\n', 'c\nb\na\nb\na\nc\n')).filter(line => /^[-+]/.test(line)),
  ).toHaveLength(5)
  expect(written(compareTexts('', 'a\nb\n'))).toEqual(['@@ -0,0 +1,2 @@', '+a', '+b'])
  expect(written(compareTexts('a\n', ''))).toEqual(['@@ -1,1 +0,0 @@', '-a'])
  expect(compareTexts('same\n', 'same\n')).toEqual([])
})

test('a newline at the end that goes is a change', () => {
  expect(written(compareTexts('a\n', 'a'))).toEqual(['@@ -1,1 +1,1 @@', '-a', '+a (no newline)'])
})

test('two long texts with nothing in common take no time', () => {
  const [before, after] = ['a', 'b'].map(letter =>
    Array.from({ length: 20_000 }, (_, at) => `${letter}${at}\n`).join(''),
  )
  const start = performance.now()
  expect(compareTexts(before!, after!)[0]!.lines).toHaveLength(40_000)
  expect(performance.now() - start).toBeLessThan(5000)
})

test('side by side, deleted lines are opposite the added ones, and the changed part is marked', () => {
  const [hunk] = compareTexts('same\nlet answer = 41\ngone\n', 'same\nlet answer = 42\n')
  const pairs = pairsOf(hunk!.lines)
  expect(pairs.map(({ left, right }) => [left?.text, right?.text])).toEqual([
    ['same', 'same'],
    ['let answer = 41', 'let answer = 42'],
    ['gone', undefined],
  ])
  const parts = changedParts(hunk!.lines)
  expect(parts.get(pairs[1]!.left!)).toEqual([14, 15])
  expect(parts.has(pairs[2]!.left!)).toBe(false)
  // A surrogate pair is not split.
  const emoji = compareTexts('it is 😀 here\n', 'it is 😁 here\n')[0]!.lines
  expect([...changedParts(emoji).values()]).toEqual([
    [6, 8],
    [6, 8],
  ])
})
