import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { commitLeftovers } from '../leftovers.ts'
import { aRepository, runGit, type TestRepository } from '../testkit.ts'
import { addPlace } from './making.ts'
import { unheld } from './second-look.ts'

/** What a session's repository names is held by the project once it was looked at, wherever it is named. */
let repo: TestRepository
let worktree: string
const branch = 'fleet/shell/w/1'
const inside = (...args: string[]) => runGit(worktree, ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args])
const stopping = (...args: string[]) => inside(...args).then(expect.fail, () => {})
const collect = () => commitLeftovers({ worktree, branch, message: 'Leftovers\n' })
const put = (file: string, content: string) => writeFileSync(join(worktree, file), content)
const commit = async (file: string, content: string) => {
  put(file, content)
  await inside('add', file)
  await inside('commit', '--quiet', '-m', `${file} ${content}`)
  return inside('rev-parse', 'HEAD')
}
/** Two sides that differ in b; HEAD is on ours. */
const twoSides = async () => {
  await inside('checkout', '--quiet', '-b', 'side')
  await commit('b', 'theirs\n')
  await inside('checkout', '--quiet', branch)
  await commit('b', 'ours\n')
}
const heldBy = async (file: string) => {
  const commits = (await repo.git('rev-list', '--all')).split('\n')
  return (await Promise.all(commits.map(each => repo.readOn(each, file).catch(() => '')))).filter(Boolean)
}

beforeEach(async () => {
  repo = await aRepository({ files: { a: 'one\n', b: 'one\n', c: 'one\n' } })
  worktree = join(repo.root, 'home/worktrees/p/w')
  const given = { base: 'main', session: 's1', allowPush: false, hooks: true }
  await addPlace(await repo.open(), { path: worktree, branch, from: 'main', ...given })
})
afterEach(() => repo.remove())

describe('what git put aside by itself', () => {
  test('before a merge is kept, and the merge is not concluded without it', async () => {
    await twoSides()
    put('c', 'precious\n')
    await stopping('merge', '--autostash', 'side')
    put('b', 'both\n')
    for (const _ of [1, 2]) {
      const { unfinished, kept } = await collect()
      expect(unfinished).toEqual({ doing: 'merge', paths: ['b'] })
      expect(kept).toContain('refs/fleet/sessions/s1/stashes/0')
      expect(await repo.readOn('refs/fleet/sessions/s1/stashes/0', 'c')).toBe('precious')
    }
    await inside('commit', '--quiet', '-am', 'merged')
    const { unfinished, tip } = await collect()
    expect(unfinished).toBeUndefined()
    expect([await repo.readOn(tip, 'b'), await repo.readOn(tip, 'c')]).toEqual(['both', 'precious'])
    expect(await unheld(worktree, [])).toEqual([])
  })

  test('before a rebase is kept when the place goes', async () => {
    await twoSides()
    put('c', 'precious\n')
    await stopping('rebase', '--autostash', 'side')
    await unheld(worktree, [])
    expect(await heldBy('c')).toContain('precious')
  })
})
