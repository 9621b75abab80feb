import { expect, test } from 'vitest'
import { conflictRegions } from './conflict-regions.ts'

test('both sides of every conflict are found, with or without what they began with', () => {
  const text = [
    'before',
    '<<<<<<< main',
    'red',
    '=======',
    'blue',
    'bluer',
    '>>>>>>> work',
    'between',
    '<<<<<<< main',
    '||||||| base',
    'was here',
    '=======',
    'new',
    '>>>>>>> work',
    '',
  ].join('\n')
  expect(conflictRegions(text)).toEqual([
    { line: 2, base: 'red', work: 'blue\nbluer' },
    { line: 9, base: '', work: 'new' },
  ])
  expect(conflictRegions(text.replaceAll('\n', '\r\n'))).toHaveLength(2)
})

test('what only looks like a part of one is no conflict', () => {
  expect(conflictRegions('=======\n>>>>>>> x\nTitle\n=======\n<<<<<<< main\nopen\n')).toEqual([])
})
