import { expect, test } from 'vitest'
import { changesIn } from './tool-changes.ts'

test('what a tool changes is found under the names of every client, and nothing else is taken for a change', () => {
  expect(changesIn({ file_path: 'a', old_string: 'x', new_string: 'y' })).toEqual({
    path: 'a',
    edits: [{ before: 'x', after: 'y' }],
    fields: ['old_string', 'new_string'],
  })
  expect(changesIn({ filePath: 'a', oldString: 'x', newString: '' })?.edits).toEqual([{ before: 'x', after: '' }])
  expect(changesIn({ path: 'a', edits: [{ oldText: '1', newText: '2' }] })?.fields).toEqual(['edits'])
  expect(changesIn({ file_path: 'a', content: 'all of it' })?.edits).toEqual([{ before: '', after: 'all of it' }])
  for (const none of [{ command: 'ls' }, { edits: [{ odd: 1 }] }, { content: 'x' }, 'text', null, 7])
    expect(changesIn(none)).toBeUndefined()
})
