import { expect, test } from 'vitest'
import { type ConflictedFile, type Decisions, type Place, progressOf, resolutionsOf } from './resolution.ts'

const region = (line: number) => ({ line, base: 'a', work: 'b', cut: false })
const file = (path: string, regions: number): ConflictedFile => ({
  ...{ path, kind: 'contents', about: '', sides: { base: 'file', work: 'file' }, choices: ['places', 'base', 'work'] },
  ...{ regions: Array.from({ length: regions }, (_, at) => region(at)), regions_omitted: 0, landed: [] },
})
const FILES = [file('a', 2), file('b', 0)]

test('every place and every file needs a decision; a side counts for the whole file', () => {
  const decide = (...of: [string, NonNullable<ReturnType<Decisions['get']>>][]): Decisions => new Map(of)
  const some = decide(['a', { places: new Map([[1, 'both']]) }])
  expect([progressOf(FILES, some), resolutionsOf(FILES, some)]).toEqual([{ done: 1, all: 3 }, undefined])
  const places: [number, Place][] = [
    [1, 'both'],
    [0, { text: 'x' }],
  ]
  const all = decide(['a', { places: new Map(places) }], ['b', { take: 'work' }])
  expect(resolutionsOf(FILES, all)).toEqual([
    { path: 'a', places: [{ text: 'x' }, 'both'] },
    { path: 'b', take: 'work' },
  ])
  const sides = decide(['a', { take: 'base' }], ['b', { take: 'base' }])
  expect(progressOf(FILES, sides)).toEqual({ done: 3, all: 3 })
})
