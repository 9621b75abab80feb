import { expect, test } from 'vitest'
import { sizeOf } from './size.ts'

const edit = { path: 'a', old_text: null, new_text: null, diff: null }

test('edits are counted in lines, whichever way the agent tells of them', () => {
  expect(sizeOf([{ ...edit, old_text: 'a\nb\nc\n', new_text: 'a\nx\ny\nc\n' }])).toEqual({ added: 2, deleted: 1 })
  expect(sizeOf([{ ...edit, diff: '--- a/a\n+++ b/a\n@@ -1,2 +1,1 @@\n one\n-two\n' }])).toEqual({
    added: 0,
    deleted: 1,
  })
  expect(sizeOf([])).toBeUndefined()
  expect(sizeOf([{ ...edit, old_text: '', new_text: 'x'.repeat(200_000) }])).toBeUndefined()
})
