import { expect, test } from 'vitest'
import { changesIn, diffLines } from './tool-changes.ts'

test('what a tool changes is found under the names of every client, and nothing else is taken for a change', () => {
  expect(changesIn({ file_path: 'a', old_string: 'x', new_string: 'y' })).toEqual({
    edits: [{ before: 'x', after: 'y' }],
    fields: ['old_string', 'new_string'],
  })
  expect(changesIn({ filePath: 'a', oldString: 'x', newString: '' })?.edits).toEqual([{ before: 'x', after: '' }])
  expect(changesIn({ path: 'a', edits: [{ oldText: '1', newText: '2' }] })?.fields).toEqual(['edits'])
  expect(changesIn({ file_path: 'a', content: 'all of it' })?.edits).toEqual([{ before: '', after: 'all of it' }])
  for (const none of [{ command: 'ls' }, { edits: [{ odd: 1 }] }, { content: 'x' }, 'text', null, 7])
    expect(changesIn(none)).toBeUndefined()
})

test('a diff shows what stays once, and what goes before what comes', () => {
  expect(diffLines({ before: 'a\nb\nd', after: 'a\nc\nd' }).map(({ side, text }) => `${side} ${text}`)).toEqual([
    'both a',
    'old b',
    'new c',
    'both d',
  ])
  expect(diffLines({ before: '', after: 'x\ny' }).map(({ side }) => side)).toEqual(['new', 'new'])
  expect(diffLines({ before: 'a\na', after: 'a' })).toHaveLength(2)
})
