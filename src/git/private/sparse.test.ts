import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { aRepository, type TestRepository } from '../testkit.ts'
import { conePatterns } from './sparse.ts'

let repo: TestRepository
beforeEach(async () => {
  repo = await aRepository()
})
afterEach(() => repo.remove())

test.each([
  [['src']],
  [['src', 'docs/guides']],
  [['a/b/c', 'a/b/d', 'a/x', 'z']],
  [['a/b', 'a']],
  [['a', 'a']],
  [['a/']],
  [['with space/and *star*', 'brackets [x]', 'größe']],
])('the patterns of %j are those that git itself writes', async folders => {
  await repo.git('sparse-checkout', 'set', '--cone', '--skip-checks', ...folders)
  const written = readFileSync(join(repo.path, '.git/info/sparse-checkout'), 'utf8')
  expect(conePatterns(folders)).toBe(written)
})
