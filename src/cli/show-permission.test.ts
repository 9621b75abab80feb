import { expect, test } from 'vitest'
import { linesOf } from './show-permission.ts'

test.each([
  ['{"command":"make\\ntest","cwd":"/w"}', ['command: make', '  test', 'cwd: /w']],
  [
    '{"changes":[{"path":"a.txt","kind":{"type":"add"},"diff":"one\\ntwo\\n"},{"path":"b","kind":{"type":"update"},"diff":"@@ -1 +1 @@\\n-x\\n+y\\n"}]}',
    ['add a.txt', '  +one', '  +two', 'update b', '  @@ -1 +1 @@', '  -x', '  +y'],
  ],
  ['{"changes":"none","deep":{"a":[1]}}', ['changes: none', 'deep: {', '    "a": [', '      1', '    ]', '  }']],
  ['no JSON', ['no JSON']],
  ['{"changes":[null,7]}', ['change undefined', '  ', 'change undefined', '  ']],
])('%s', (text, lines) => {
  expect(linesOf(text)).toEqual(lines)
})

test('a long change is cut, and says so', () => {
  const lines = linesOf(JSON.stringify({ content: 'x\n'.repeat(1000) }))
  expect([lines.length, lines.at(-1)]).toEqual([41, '… and 961 more lines'])
})
