import { expect, test } from 'vitest'
import { branchPage } from './remote-address.ts'

test.each([
  ['git@github.com:us/ours.git', 'https://github.com/us/ours/tree/fleet/a'],
  ['https://github.com/us/ours', 'https://github.com/us/ours/tree/fleet/a'],
  ['ssh://git@github.example.org:22/us/ours.git', 'https://github.example.org/us/ours/tree/fleet/a'],
  ['https://gitlab.com/group/part/ours.git', 'https://gitlab.com/group/part/ours/-/tree/fleet/a'],
  ['git@git.example.org:us/ours.git', null],
  ['/home/me/remote.git', null],
  ['https://github.com/us/../ours', null],
  ['javascript://github.com/us/ours', null],
  ['https://evil.example/github.com/us', null],
])('%s', (address, page) => {
  expect(branchPage(address, 'fleet/a')).toBe(page)
})

test('a branch is a path, and nothing in it ends the address', () => {
  expect(branchPage('git@github.com:us/ours.git', 'a?b#c/d e')).toBe('https://github.com/us/ours/tree/a%3Fb%23c/d%20e')
})
