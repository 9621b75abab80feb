import { expect, test } from 'vitest'
import { diffsIn, editsOf, patchesOf } from './edits.ts'

test('what a tool changes in a file, however its client spells it', () => {
  const part = { path: 'a.ts', old_text: 'one', new_text: 'two', diff: null }
  for (const [tool, input] of [
    ['Edit', { file_path: 'a.ts', old_string: 'one', new_string: 'two' }],
    ['replace', { file_path: 'a.ts', old_string: 'one', new_string: 'two' }],
    ['edit', { filePath: 'a.ts', oldString: 'one', newString: 'two' }],
    ['MultiEdit', { file_path: 'a.ts', edits: [{ old_string: 'one', new_string: 'two' }] }],
  ] as const)
    expect(editsOf(tool, input)).toEqual({ edits: [part] })
  expect(editsOf('NotebookEdit', { notebook_path: 'n.ipynb', new_source: 'x' })).toEqual({
    edits: [{ path: 'n.ipynb', old_text: null, new_text: 'x', diff: null }],
  })
})

test('a tool that only looks like one, or says nothing of use, changes nothing', () => {
  for (const [tool, input] of [
    ['mcp__notes__save', { file_path: 'a.ts', content: 'x' }],
    ['Write', null],
    ['Write', 'a.ts'],
    ['Write', { file_path: 7, content: 'x' }],
  ] as const)
    expect(editsOf(tool, input)).toEqual({})
  expect(patchesOf('no list')).toEqual({})
  expect(diffsIn([{ type: 'content' }, null])).toEqual({})
})

test('a patch has a diff, and the text of files that come and go', () => {
  expect(
    patchesOf([
      { path: 'a', kind: { type: 'update' }, diff: '@@ -1 +1 @@\n-one\n+two\n' },
      { path: 'b', kind: { type: 'delete' }, diff: 'gone\n' },
      { path: 'c', kind: { type: 'add' }, diff: 'new\n' },
    ]).edits,
  ).toEqual([
    { path: 'a', old_text: null, new_text: null, diff: '@@ -1 +1 @@\n-one\n+two\n' },
    { path: 'b', old_text: 'gone\n', new_text: '', diff: null },
    { path: 'c', old_text: '', new_text: 'new\n', diff: null },
  ])
})
