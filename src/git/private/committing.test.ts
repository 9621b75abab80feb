import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import * as spawning from '../../spawning/index.ts'
import { commitLeftovers } from '../leftovers.ts'
import { aRepository, runGit, type TestRepository } from '../testkit.ts'
import { addPlace } from './making.ts'
import { folderOf } from './place.ts'

let repo: TestRepository
const GIVEN = { base: 'main', allowPush: false, hooks: true }

beforeEach(async () => {
  const names = ['a', 'd/x', 'd/y', 'd/e/z', 'f/g', 'name with spaces']
  repo = await aRepository({ files: Object.fromEntries(names.map(name => [name, `${name}\n`])) })
})
afterEach(async () => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  await repo.remove()
})

const put = (worktree: string, file: string | Buffer, content = 'new\n'): void => {
  const path = Buffer.concat([Buffer.from(`${worktree}/`), Buffer.from(file)])
  mkdirSync(Buffer.from(dirname(path.toString('latin1')), 'latin1'), { recursive: true })
  writeFileSync(path, content)
}

/** What an agent left in a place, committed. */
async function left(name: string, work: (worktree: string) => unknown, message = 'Leftovers\n') {
  const worktree = join(repo.root, `home/worktrees/p/${name}`)
  const branch = `fleet/shell/${name}`
  await addPlace(await repo.open(), { path: worktree, branch, from: 'main', session: name, ...GIVEN })
  await work(worktree)
  await commitLeftovers({ worktree, branch, message })
  const shown = await repo.git('log', '-1', '--format=%T%n%an <%ae>%n%cn <%ce>%n%P%n%B', branch)
  const status = await runGit(worktree, ['status', '--porcelain', '--untracked-files=all'])
  return { shown, status, log: await repo.git('log', '--oneline', '-2', '--format=%s', branch) }
}

const both =
  (...works: ((worktree: string) => unknown)[]) =>
  async (worktree: string): Promise<void> => {
    for (const work of works) await work(worktree)
  }
const writing =
  (...files: (string | Buffer)[]) =>
  (worktree: string): void => {
    for (const file of files) put(worktree, file)
  }
const removing =
  (...files: string[]) =>
  (worktree: string): void => {
    for (const file of files) rmSync(join(worktree, file), { recursive: true })
  }
const running =
  (...args: string[]) =>
  (worktree: string) =>
    runGit(worktree, args)

test.each<[string, (worktree: string) => unknown]>([
  ['a new file', writing('new')],
  ['a changed file deep below', writing('d/e/z')],
  ['new folders', writing('n/o/p', 'n/q', 'd/e/new')],
  ['names that sort apart as folders', writing('d.x', 'd-', 'd0')],
  ['a deleted file', removing('d/x')],
  ['a deleted folder', removing('d')],
  ['an executable', at => chmodSync(join(at, 'a'), 0o755)],
  ['a link', at => symlinkSync('a', join(at, 'link'))],
  ['a file that became a folder', both(removing('a'), writing('a/b'))],
  ['a folder that became a file', both(removing('f'), writing('f'))],
  ['odd names', writing(Buffer.from([0x6f, 0xff, 0x0a]), 'ü"\t\\')],
  ['everything deleted', removing('a', 'd', 'f', 'name with spaces')],
  ['a file that the agent staged', both(writing('new'), running('add', 'new'))],
  ['a file beside a commit of the agent', both(writing('a'), running('commit', '-qam', 'own'), writing('new'))],
])('%s is committed as git would', async (_, work) => {
  const plain = await left('plain', work)
  vi.stubEnv('FLEET_GIT_WRITES', 'git')
  const byGit = await left('by-git', work)
  const withoutParent = (shown: string) => shown.split('\n').toSpliced(3, 1)
  expect(withoutParent(plain.shown)).toEqual(withoutParent(byGit.shown))
  expect(plain.status).toBe('')
  expect(plain.log).toBe(byGit.log)
  await repo.git('fsck', '--strict')
})

test.each(['\n\n  Words \t\n\n\n\nmore\r\n\n# no comment\n   \n', 'Words without an end', 'One\n\n\nTwo\n'])(
  'a message is cleaned as git cleans it: %j',
  async message => {
    const plain = await left('plain', at => put(at, 'new'), message)
    vi.stubEnv('FLEET_GIT_WRITES', 'git')
    expect(plain.shown).toBe((await left('by-git', at => put(at, 'new'), message)).shown)
  },
)

test('the person is the one whom git names in the folder of the project', async () => {
  vi.stubEnv('HOME', repo.root)
  await repo.git('config', '--remove-section', 'user')
  writeFileSync(join(repo.root, '.gitconfig'), `[includeIf "gitdir:${repo.path}/"]\n\tpath = at-work\n`)
  writeFileSync(join(repo.root, 'at-work'), '[user]\n\tname = At Work\n\temail = work@example.com\n')
  const { shown } = await left('w', writing('new'))
  expect(shown).toContain('At Work <work@example.com>\nAt Work <work@example.com>')
})

test.each(['4', 'split'])('an index that only git reads is left to git (%s)', async form => {
  const { shown } = await left('w', async at => {
    put(at, 'new')
    const env = { GIT_DIR: join(folderOf(at), 'ours'), GIT_COMMON_DIR: join(repo.path, '.git'), GIT_WORK_TREE: at }
    await runGit(at, ['update-index', ...(form === '4' ? ['--index-version', '4'] : ['--split-index'])], env)
  })
  expect(shown).toContain('Leftovers')
  expect(await repo.filesOn('fleet/shell/w')).toContain('new')
})

test('a plain commit asks git only what changed and to stage it', async () => {
  const worktree = join(repo.root, 'home/worktrees/p/w')
  const branch = 'fleet/shell/w'
  await addPlace(await repo.open(), { path: worktree, branch, from: 'main', session: 'w', ...GIVEN })
  put(worktree, 'd/new')
  const calls: string[] = []
  const real = spawning.runProgram
  vi.spyOn(spawning, 'runProgram').mockImplementation(program => {
    calls.push(program.args.find((arg, i) => !arg.startsWith('-') && program.args[i - 1] !== '-c') ?? '')
    return real(program)
  })
  await commitLeftovers({ worktree, branch, message: 'Leftovers\n' })
  expect(calls).toEqual(['status', 'update-index'])
})
