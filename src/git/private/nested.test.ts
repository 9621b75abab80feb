import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { commitLeftovers } from '../leftovers.ts'
import { aRepository, runGit, type TestRepository } from '../testkit.ts'
import { addPlace } from './making.ts'
import { folderOf } from './place.ts'

/** After a session, a person's git runs nothing that an agent made, in any repository below the worktree. */
let repo: TestRepository
let worktree: string
let ran: string
const branch = 'fleet/shell/w/1'
const AS = ['-c', 'user.name=a', '-c', 'user.email=a@b']
const below = (folder: string, ...args: string[]) => runGit(join(worktree, folder), [...AS, ...args])
const collect = () => commitLeftovers({ worktree, branch, message: 'Leftovers\n' })
const SAFELY = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '-c', 'advice.addEmbeddedRepo=false']

beforeEach(async () => {
  repo = await aRepository({ files: { a: 'one\n', 'src/q': 'one\n', '.gitignore': 'deps/\n' } })
  worktree = join(repo.root, 'home/worktrees/p/w')
  ran = join(repo.root, 'ran')
  const given = { base: 'main', session: 's1', allowPush: false, hooks: true }
  await addPlace(await repo.open(), { path: worktree, branch, from: 'main', ...given })
})
afterEach(() => repo.remove())

async function make(folder: string): Promise<string> {
  mkdirSync(join(worktree, folder), { recursive: true })
  await below(folder, 'init', '--quiet')
  writeFileSync(join(worktree, folder, 'x'), 'x\n')
  await below(folder, 'add', 'x')
  await below(folder, 'commit', '--quiet', '-m', 'x')
  return join(worktree, folder, '.git')
}

const EVIL = () => `
[core]
	fsmonitor = touch ${ran}; false
	pager = touch ${ran}
	editor = touch ${ran}
	sshCommand = touch ${ran}
[filter "own"]
	clean = touch ${ran}; cat
	process = touch ${ran}
[diff "own"]
	textconv = touch ${ran}; cat
	command = touch ${ran}
[diff]
	external = touch ${ran}
[gpg]
	program = touch ${ran}
[commit]
	gpgSign = true
[log]
	showSignature = true
`

/** Uses everything in a git directory that can make git run a program. */
function arm(gitDir: string): void {
  writeFileSync(join(gitDir, 'included'), EVIL())
  writeFileSync(join(gitDir, 'config.worktree'), EVIL())
  const config = readFileSync(join(gitDir, 'config'), 'utf8')
  const includes = `[extensions]\n\tworktreeConfig = true\n[include]\n\tpath = included\n`
  writeFileSync(join(gitDir, 'config'), config + EVIL() + includes)
  mkdirSync(join(gitDir, 'info'), { recursive: true })
  mkdirSync(join(gitDir, 'hooks'), { recursive: true })
  writeFileSync(join(gitDir, 'info/attributes'), '* filter=own diff=own\n')
  for (const hook of ['pre-commit', 'post-commit', 'post-index-change', 'post-checkout', 'reference-transaction'])
    writeFileSync(join(gitDir, 'hooks', hook), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 })
}

/** What people do in a folder. Git may refuse some of it. */
async function workIn(...folders: string[]): Promise<void> {
  for (const folder of folders)
    for (const args of [
      ['status'],
      ['diff'],
      ['log', '-p'],
      ['add', '-A'],
      ['commit', '--quiet', '--allow-empty', '-m', 'by the person'],
      ['checkout', '--quiet', '--detach'],
    ])
      await below(folder, ...args).catch(() => {})
}

async function sealed(...folders: string[]): Promise<void> {
  rmSync(ran, { force: true })
  await collect()
  expect(existsSync(ran)).toBe(false)
  await workIn('.', ...folders)
  expect(existsSync(ran)).toBe(false)
}

describe('a repository below the worktree is sealed', () => {
  test('inside another one that a commit names', async () => {
    await make('k')
    const inner = await make('k/m')
    await below('k', ...SAFELY, 'add', 'm')
    await below('k', ...SAFELY, 'commit', '--quiet', '-m', 'm')
    await below('.', ...SAFELY, 'add', 'k')
    await below('.', ...SAFELY, 'commit', '--quiet', '-m', 'k')
    arm(inner)
    await sealed('k', 'k/m')
  })

  test('that is only staged, in the middle of a rebase', async () => {
    for (const name of ['q', 'r']) {
      writeFileSync(join(worktree, name), name)
      await below('.', 'add', name)
      await below('.', 'commit', '--quiet', '-m', name)
    }
    await below('.', '-c', 'sequence.editor=sed -i 1s/pick/edit/', 'rebase', '--quiet', '-i', 'HEAD~2')
    const gitDir = await make('k')
    await below('.', ...SAFELY, 'add', 'k')
    arm(gitDir)
    await sealed('k')
  })

  test('that is only staged, on another branch', async () => {
    await below('.', 'checkout', '--quiet', '--orphan', 'other')
    const gitDir = await make('k')
    await below('.', ...SAFELY, 'add', 'k')
    arm(gitDir)
    await sealed('k')
  })

  test.each(['src', 'deps/own', 'new'])('that no index names, in %s', async folder => {
    arm(await make(folder))
    await sealed(folder)
  })

  test('that has a submodule and a worktree of its own', async () => {
    await make('deps/lib')
    await make('k')
    const url = join(worktree, 'deps/lib')
    await below('k', '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', url, 'sub')
    await below('k', 'commit', '--quiet', '-m', 'sub')
    await below('k', 'worktree', 'add', '--quiet', '../deps/linked', '-b', 'linked')
    arm(join(worktree, 'k/.git'))
    arm(join(worktree, 'k/.git/modules/sub'))
    await sealed('k', 'k/sub', 'deps/linked')
    expect(await below('deps/linked', 'log', '-1', '--format=%s')).toBe('by the person')
    expect(await below('k/sub', 'rev-parse', '--show-toplevel')).toContain('/k/sub')
  })

  test('that is bare, in an ignored folder', async () => {
    renameSync(await make('deps/own'), join(worktree, 'deps/bare'))
    arm(join(worktree, 'deps/bare'))
    await below('.', 'config', '--file', 'deps/bare/config', 'core.worktree', '..')
    await sealed('deps/bare')
  })

  test.each([0o111, 0o311])('in a folder of the mode %o', async mode => {
    arm(await make('deps/shut/k'))
    await below('.', ...SAFELY, 'add', '-f', 'deps/shut/k')
    chmodSync(join(worktree, 'deps/shut/k/.git/hooks'), 0o500)
    chmodSync(join(worktree, 'deps/shut/k/.git'), 0o500)
    chmodSync(join(worktree, 'deps/shut'), mode)
    await sealed('deps/shut/k')
    chmodSync(join(worktree, 'deps/shut'), 0o755)
  })
})

describe('a link called .git leads to nothing that is not sealed', () => {
  /** A git directory that an agent can write to, and that is never sealed. */
  async function elsewhere(from = 'k'): Promise<string> {
    const at = join(repo.root, 'elsewhere')
    renameSync(await make(from), at)
    arm(at)
    return at
  }
  const link = (text: string) => writeFileSync(join(worktree, 'k/.git'), text)

  test('elsewhere', async () => {
    const at = await elsewhere()
    link(`gitdir: ${at}\n`)
    await sealed('k')
    expect(readlinkSync(join(worktree, 'k/.git'))).toContain(`gitdir: ${at}`)
    await below('.', 'status')
  })

  test('by a symbolic link', async () => {
    symlinkSync(await elsewhere(), join(worktree, 'k/.git'))
    await sealed('k')
    expect(readlinkSync(join(worktree, 'k/.git'))).toContain(join(repo.root, 'elsewhere'))
  })

  test('back through a symbolic link', async () => {
    await elsewhere()
    await make('real')
    mkdirSync(join(repo.root, 'x'))
    renameSync(join(repo.root, 'elsewhere'), join(repo.root, 'real'))
    symlinkSync(join(repo.root, 'x'), join(worktree, 'out'))
    renameSync(join(worktree, 'real/.git'), join(worktree, 'real.git'))
    rmSync(join(worktree, 'real'), { recursive: true })
    renameSync(join(worktree, 'real.git'), join(worktree, 'real'))
    link('gitdir: ../out/../real\n')
    await sealed('k')
  })

  test('within the place’s own repository', async () => {
    const hidden = join(folderOf(worktree), 'git/modules/m/deep')
    mkdirSync(join(hidden, '..'), { recursive: true })
    writeFileSync(join(hidden, '../HEAD'), 'ref: refs/heads/main\n')
    renameSync(await elsewhere(), hidden)
    link(`gitdir: ${hidden}\n`)
    await sealed('k')
  })

  test('whose name ends with a space', async () => {
    await make('k')
    renameSync(join(worktree, 'k/.git'), join(worktree, 'k/e'))
    symlinkSync(await elsewhere('l'), join(worktree, 'k/e '))
    link('gitdir: e \n')
    await sealed('k')
  })

  test('through a shared directory elsewhere', async () => {
    const gitDir = await make('k')
    writeFileSync(join(gitDir, 'commondir'), `${await elsewhere('l')}\n`)
    await sealed('k')
  })
})

describe('nothing of it is lost', () => {
  test('what was there is kept beside, and it is said', async () => {
    const gitDir = await make('src')
    await below('src', 'config', 'remote.origin.url', 'https://example.com/x')
    arm(gitDir)
    const before = readFileSync(join(gitDir, 'config'), 'utf8')
    const { skipped } = await collect()
    expect(skipped).toContainEqual({ path: 'src/.git', why: expect.stringContaining('set-aside-by-flotilla') })
    const aside = join(gitDir, 'set-aside-by-flotilla')
    expect(readFileSync(join(aside, 'config'), 'utf8')).toBe(before)
    expect(existsSync(join(aside, 'hooks/pre-commit'))).toBe(true)
    expect(existsSync(join(aside, 'attributes'))).toBe(true)
    expect(await below('src', 'config', 'remote.origin.url')).toBe('https://example.com/x')
    arm(gitDir)
    await collect()
    expect(existsSync(join(aside, 'config-2'))).toBe(true)
    expect(readFileSync(join(aside, 'config'), 'utf8')).toBe(before)
  })

  test('one that runs nothing stays as it is', async () => {
    const gitDir = await make('src')
    await below('src', 'config', 'user.name', 'Me')
    const before = readFileSync(join(gitDir, 'config'), 'utf8')
    await collect()
    expect(readFileSync(join(gitDir, 'config'), 'utf8')).toBe(before)
    expect(existsSync(join(gitDir, 'set-aside-by-flotilla'))).toBe(false)
  })
})
