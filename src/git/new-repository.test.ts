import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { isOnlyOurs, makeRepository } from './new-repository.ts'
import { runGit } from './testkit.ts'

const BEGINNING = { subject: 'Begin', files: { 'README.md': '# Made\n', '.gitignore': 'built\n' } }

/** A repository as missions leave it: two landings, the branch of one mission, and a ref that keeps another. */
async function ours() {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'flotilla-git-')))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const path = join(root, 'made')
  await makeRepository(path, BEGINNING)
  const git = (...args: string[]) => runGit(path, ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args])
  const commit = async (message: string): Promise<string> => {
    await git('commit', '--quiet', '--allow-empty', '-m', message)
    return git('rev-parse', 'HEAD')
  }
  const landings = new Set([await commit('landed'), await commit('undone')])
  await git('checkout', '--quiet', '-b', 'fleet/shell/a-mission/m1')
  const ends = new Set([await commit('work')])
  await git('checkout', '--quiet', 'main')
  await git('update-ref', 'refs/fleet/m2/1', 'main')
  const isOurs = (known = { landings, ends }) => isOnlyOurs(path, { branch: 'main', beginning: BEGINNING, ...known })
  return { root, path, git, commit, landings, isOurs, write: (file: string) => writeFile(join(path, file), 'mine') }
}
type Made = Awaited<ReturnType<typeof ours>>

test('a repository with nothing but its first commit and the work of missions is only ours', async () => {
  expect(await (await ours()).isOurs()).toBe(true)
})

test.each<[string, (made: Made) => Promise<unknown>]>([
  ['a commit on the base branch', ({ commit }) => commit('mine')],
  [
    'a commit below a landing',
    async ({ commit, landings }) => {
      await commit('mine')
      landings.add(await commit('landed'))
    },
  ],
  ['another first commit', ({ git, landings }) => rewritten(git, landings)],
  ['a commit on the branch of a mission', onMissionBranch],
  ['a detached head', ({ git }) => git('checkout', '--quiet', '--detach')],
  [
    'a commit that only the reflog has',
    async ({ git, commit }) => {
      await git('checkout', '--quiet', '--detach')
      await commit('mine')
      await git('checkout', '--quiet', 'main')
    },
  ],
  ['a worktree', ({ git, root }) => git('worktree', 'add', '--quiet', '--detach', join(root, 'mine'))],
  ['a hook', ({ write }) => write('.git/hooks/pre-commit')],
  ['a branch', ({ git }) => git('branch', 'mine')],
  ['a tag', ({ git }) => git('tag', 'mine')],
  ['a remote', ({ git }) => git('remote', 'add', 'origin', 'https://example.com/mine.git')],
  [
    'a stash',
    async ({ git, write }) => {
      await write('README.md')
      await git('stash', '--quiet')
    },
  ],
  ['a changed file', ({ write }) => write('README.md')],
  ['an ignored file', ({ write }) => write('built')],
  [
    'a new file that their status does not show',
    async ({ git, write }) => {
      await git('config', 'status.showUntrackedFiles', 'no')
      await write('mine')
    },
  ],
  ['no base branch', ({ git }) => git('branch', '--move', 'main', 'mine')],
  [
    'another repository around it',
    async ({ path }) => {
      await rm(join(path, '.git'), { recursive: true })
      await mkdir(join(path, '.git'))
    },
  ],
])('a repository with %s is not only ours', async (_, change) => {
  const made = await ours()
  await change(made)
  expect(await made.isOurs()).toBe(false)
})

test('a repository with landings that nobody recorded is not only ours', async () => {
  expect(await (await ours()).isOurs({ landings: new Set(), ends: new Set() })).toBe(false)
})

async function rewritten(git: Made['git'], landings: Set<string>): Promise<void> {
  const root = await git('commit-tree', 'main^{tree}', '-m', 'mine')
  landings.add(await git('commit-tree', 'main^{tree}', '-p', root, '-m', 'landed'))
  await git('reset', '--quiet', '--hard', [...landings].at(-1)!)
  await git('reflog', 'expire', '--expire=now', '--all')
}

async function onMissionBranch({ git, commit }: Made): Promise<void> {
  await git('checkout', '--quiet', 'fleet/shell/a-mission/m1')
  await commit('mine')
  await git('checkout', '--quiet', 'main')
}
