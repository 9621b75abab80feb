import { expect, test } from 'vitest'
import { adviceForPage } from './advice.ts'

test.each([
  [undefined, undefined],
  ['fleet list', undefined],
  ['fleet diff 4f2a, then fleet land 4f2a', undefined],
  ['Use one of: shell, claude.', 'Use one of: shell, claude.'],
  ['Run git init in /tmp, or give the path of one.', 'Run git init in /tmp, or give the path of one.'],
  ['Rename the folder. Or name it: fleet project add <path>', 'Rename the folder.'],
  ['To run a script instead: --agent shell.', undefined],
  ['Name the fleet.', 'Name the fleet.'],
  ['Raise the limit with fleet mission edit 4f2a, then resume it.', undefined],
])('of %j the page shows %j', (advice, shown) => {
  expect(adviceForPage(advice)).toBe(shown)
})
