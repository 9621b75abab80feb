import { expect, test } from 'vitest'
import { changesIn } from './tool-changes.ts'

test('what a tool changes is found under the names of every client, and nothing else is taken for a change', () => {
  expect(changesIn({ file_path: 'a', old_string: 'x', new_string: 'y' })).toEqual({
    edits: [{ path: 'a', old_text: 'x', new_text: 'y', diff: null }],
    fields: ['old_string', 'new_string'],
  })
  expect(changesIn({ filePath: 'a', oldString: 'x', newString: '' })?.edits).toMatchObject([
    { old_text: 'x', new_text: '' },
  ])
  expect(changesIn({ path: 'a', edits: [{ oldText: '1', newText: '2' }] })?.fields).toEqual(['edits'])
  expect(changesIn({ file_path: 'a', content: 'all of it' })?.edits).toMatchObject([
    { old_text: '', new_text: 'all of it' },
  ])
  const changes = [
    { path: 'a', kind: { type: 'add' }, diff: 'one\n' },
    { path: 'b', kind: { type: 'update', move_path: null }, diff: '@@ -1 +1 @@\n-x\n+y\n' },
    { path: 'c', kind: { type: 'delete' }, diff: 'two\n' },
  ]
  expect(changesIn({ reason: 'x', changes })).toEqual({
    edits: [
      { path: 'a', old_text: '', new_text: 'one\n', diff: null },
      { path: 'b', old_text: null, new_text: null, diff: '@@ -1 +1 @@\n-x\n+y\n' },
      { path: 'c', old_text: 'two\n', new_text: '', diff: null },
    ],
    fields: ['changes'],
  })
  for (const none of [
    { changes: [{ path: 'a' }] },
    { command: 'ls' },
    { edits: [{ odd: 1 }] },
    { content: 'x' },
    'text',
    null,
    7,
  ])
    expect(changesIn(none)).toBeUndefined()
})
