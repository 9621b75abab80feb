import { expect, test } from 'vitest'
import { fuzzyFind } from './fuzzy.ts'

const FILES = [
  'README.md',
  'src/index.ts',
  'src/server/index.ts',
  'src/server/server.ts',
  'src/pages/home/composer.tsx',
  'src/pages/mission/new-draft.ts',
  'docs/serving.md',
]

test.each([
  ['composer', 'src/pages/home/composer.tsx'],
  ['cmpsr', 'src/pages/home/composer.tsx'],
  ['server', 'src/server/server.ts'],
  ['index', 'src/index.ts'],
  ['server/index', 'src/server/index.ts'],
  ['newdraft', 'src/pages/mission/new-draft.ts'],
  ['nd', 'src/pages/mission/new-draft.ts'],
  ['readme', 'README.md'],
])('%s finds %s first', (wanted, first) => {
  expect(fuzzyFind(wanted, FILES, 3)[0]).toBe(first)
})

test('what does not occur is not found, and the list has an end', () => {
  expect(fuzzyFind('zzz', FILES, 3)).toEqual([])
  expect(fuzzyFind('', FILES, 2)).toEqual(['README.md', 'docs/serving.md'])
  expect(fuzzyFind('s', FILES, 2)).toHaveLength(2)
})
