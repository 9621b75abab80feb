import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { liveDifferenceOf } from '../differences.ts'
import { commitLeftovers } from '../leftovers.ts'
import { mergeInto } from '../merge-into.ts'
import type { Within } from '../run.ts'
import { snapshot } from '../snapshots.ts'
import { aRepository, runGit, type TestRepository } from '../testkit.ts'
import { addPlace, checkoutPlace } from './making.ts'
import { folderOf } from './place.ts'
import { unheld } from './unheld.ts'

/**
 * Everything that an agent can make git run: programs in the worktree that the person's configuration names and the
 * agent's attributes select, configuration and hooks of its own repository, and those of repositories below its
 * worktree. Each writes a file if it runs outside the walls. In these tests, the walls are an environment variable.
 */
let repo: TestRepository
let worktree: string
let ran: string
const branch = 'fleet/shell/w/1'
const GIVEN = { base: 'main', session: 's1', allowPush: false, hooks: true }
const within: Within = argv => ['/usr/bin/env', 'WALLED=1', ...argv]
const AS = ['-c', 'user.name=a', '-c', 'user.email=a@b']
const inside = (...args: string[]) => runGit(worktree, [...AS, ...args], { WALLED: '1' })
const put = (file: string, content: string) => writeFile(join(worktree, file), content)
const collect = () => commitLeftovers({ worktree, branch, message: 'Leftovers\n', within })

const ranOutside = () => (existsSync(ran) ? readFileSync(ran, 'utf8') || 'something' : '')
const tool = (body: string) => `#!/bin/sh\n[ -n "$WALLED" ] || echo "$0 $*" >>${ran}\n${body}\n`
const HOOKS = ['pre-commit', 'post-commit', 'post-checkout', 'post-merge', 'pre-merge-commit', 'post-index-change']

beforeEach(async () => {
  repo = await aRepository({ files: { a: 'one\n', b: 'one\n', 'tools/filter': '#!/bin/sh\ncat\n' } })
  worktree = join(repo.root, 'home/worktrees/p/w')
  ran = join(repo.root, 'ran')
  const settings = {
    'filter.x.clean': 'sh tools/filter clean %f',
    'filter.x.smudge': 'sh tools/filter smudge %f',
    'merge.x.driver': 'sh tools/merge %O %A %B %P',
    'diff.x.textconv': 'sh tools/filter textconv',
    'diff.x.command': 'sh tools/filter diff',
    'diff.external': 'sh tools/filter external',
    'core.fsmonitor': 'tools/filter',
    'core.hooksPath': 'tools/hooks',
  }
  for (const [key, value] of Object.entries(settings)) await repo.git('config', key, value)
})
afterEach(() => repo.remove())

async function hostile(): Promise<void> {
  await addPlace(await repo.open(), { path: worktree, branch, from: 'main', ...GIVEN, within })
  mkdirSync(join(worktree, 'tools/hooks'), { recursive: true })
  await put('.gitattributes', '* filter=x merge=x diff=x\ntools/** !filter !merge\n.gitattributes !filter\n')
  await put('tools/filter', tool('cat'))
  chmodSync(join(worktree, 'tools/filter'), 0o755)
  await put('tools/merge', tool('cat "$3" >"$2"; echo "by $4" >>"$2"; exit 0'))
  for (const hook of HOOKS) {
    await put(`tools/hooks/${hook}`, tool('exit 0'))
    chmodSync(join(worktree, 'tools/hooks', hook), 0o755)
  }
  const git = join(folderOf(worktree), 'git')
  await inside('config', 'filter.own.clean', `touch ${ran}; cat`)
  await inside('config', 'core.fsmonitor', `touch ${ran}; false`)
  mkdirSync(join(git, 'hooks'), { recursive: true })
  for (const hook of HOOKS) writeFileSync(join(git, 'hooks', hook), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 })
  mkdirSync(join(git, 'info'), { recursive: true })
  writeFileSync(join(git, 'info/attributes'), '* filter=own\n')
  await put('a', 'by the agent\n')
}

/** A repository below the worktree that a commit of the agent names, so git looks into it automatically. */
async function nested(): Promise<void> {
  await inside('init', '--quiet', 'nested')
  const below = (...args: string[]) => runGit(join(worktree, 'nested'), [...AS, ...args], { WALLED: '1' })
  await put('nested/file', 'one\n')
  await below('add', 'file')
  await below('commit', '--quiet', '-m', 'one')
  await inside('-c', 'advice.addEmbeddedRepo=false', '-c', 'core.fsmonitor=false', 'add', 'nested')
  await inside('-c', 'core.hooksPath=/dev/null', 'commit', '--quiet', '-m', 'names it')
  await below('config', 'filter.own.clean', `touch ${ran}; cat`)
  await below('config', 'core.fsmonitor', `touch ${ran}; false`)
  await below('config', 'core.alternateRefsCommand', `touch ${ran}`)
  writeFileSync(join(worktree, 'nested/.git/info/attributes'), '* filter=own\n')
}

describe('nothing of an agent’s making runs outside its walls', () => {
  const acts: Record<string, () => Promise<unknown>> = {
    'a live difference': async () => {
      const found = await liveDifferenceOf(worktree, await repo.tip(), { maxBytes: 100_000 }, within)
      expect(found?.text).toContain('+by the agent')
    },
    'a snapshot of live work': async () => {
      const oid = await snapshot(await repo.open(), {
        worktree,
        message: 'x',
        ref: 'refs/fleet/m/0',
        never: [],
        within,
      })
      expect(await repo.readOn(oid, 'a')).toBe('by the agent')
    },
    'the commit of what it left': async () => {
      await collect()
      expect(await repo.readOn(branch, 'a')).toBe('by the agent')
    },
    'the last look before it is removed': async () => {
      expect(await unheld(worktree, [], within)).toContain('a')
    },
    'a checkout for checks': async () => {
      const { tip } = await collect()
      const scratch = join(repo.root, 'home/worktrees/p/checks')
      await checkoutPlace(await repo.open(), scratch, tip, { ...GIVEN, within })
      writeFileSync(join(scratch, 'a'), 'changed by a check\n')
      await checkoutPlace(await repo.open(), scratch, tip, { ...GIVEN, within })
      expect(existsSync(join(scratch, 'tools/merge'))).toBe(true)
    },
    'a worktree that starts from its work': async () => {
      await collect()
      const next = join(repo.root, 'home/worktrees/p/next')
      await addPlace(await repo.open(), { path: next, branch: 'fleet/shell/next/1', from: branch, ...GIVEN, within })
      expect(existsSync(join(next, 'tools/merge'))).toBe(true)
    },
    'a merge of the base': async () => {
      await collect()
      await repo.commit('base moves', { a: 'by the base\n' })
      expect(await mergeInto(worktree, await repo.tip(), within)).toHaveProperty('tip')
      // The agent's merge driver ran inside the walls, and its result is in the merge.
      expect(await inside('-c', 'core.fsmonitor=false', 'show', 'HEAD:a')).toBe('by the base\nby a')
    },
  }
  test.each(Object.entries(acts))('%s', async (_, act) => {
    await hostile()
    rmSync(ran, { force: true })
    await act()
    expect(ranOutside()).toBe('')
  })

  test.each(Object.entries(acts))('%s, with a repository below the worktree', async (name, act) => {
    await hostile()
    await nested()
    await put('nested/file', 'two\n')
    rmSync(ran, { force: true })
    await act()
    if (name === 'the commit of what it left') expect(await unheld(worktree, [], within)).toContain('nested')
    expect(ranOutside()).toBe('')
  })
})

test('without walls the person’s own programs run as ever', async () => {
  await repo.git('config', 'filter.up.clean', 'tr a-z A-Z')
  await repo.commit('attributes', { '.gitattributes': '*.up filter=up\n' })
  await addPlace(await repo.open(), { path: worktree, branch, from: 'main', ...GIVEN })
  await put('x.up', 'small\n')
  await commitLeftovers({ worktree, branch, message: 'Leftovers\n' })
  expect(await repo.readOn(branch, 'x.up')).toBe('SMALL')
})

test('names of files reach a program inside walls as they are', async () => {
  await repo.git('config', 'filter.name.clean', 'printf "%%s" %f; cat >/dev/null')
  await repo.commit('attributes', { '.gitattributes': '*.n filter=name\n' })
  await addPlace(await repo.open(), { path: worktree, branch, from: 'main', ...GIVEN })
  const odd = `it's "$(touch ${ran.replaceAll('/', ' ')})" 100% %f.n`
  await put(odd, 'x')
  await collect()
  expect(await repo.readOn(branch, odd)).toBe(odd)
  expect(ranOutside()).toBe('')
})

test('repositories below the worktree run nothing in a person’s hands either', async () => {
  const library = await aRepository({ files: { lib: 'library\n' } })
  for (const key of ['core.fsmonitor', 'core.hooksPath']) await repo.git('config', '--unset', key)
  for (const name of ['sm', 'other'])
    await repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.path, name)
  await repo.git('commit', '--quiet', '-m', 'with submodules')
  await addPlace(await repo.open(), { path: worktree, branch, from: 'main', ...GIVEN })
  await inside('init', '--quiet', 'nested')
  const below = (folder: string, ...args: string[]) => runGit(join(worktree, folder), [...AS, ...args])
  await put('nested/file', 'one\n')
  await below('nested', 'add', 'file')
  await below('nested', 'commit', '--quiet', '-m', 'one')
  await below('nested', 'remote', 'add', 'origin', library.path)
  await inside('-c', 'advice.addEmbeddedRepo=false', 'add', 'nested')
  await inside('commit', '--quiet', '-m', 'names it')
  // The link of one of them is replaced by one that leads out of the worktree.
  const elsewhere = join(repo.root, 'elsewhere')
  cpSync(join(folderOf(worktree), 'git/modules/other'), elsewhere, { recursive: true })
  await put('other/.git', `gitdir: ${elsewhere}\n`)
  await runGit(repo.root, ['config', '--file', join(elsewhere, 'config'), 'core.worktree', join(worktree, 'other')])
  const underWay = join(repo.path, '.git/rebase-merge')
  mkdirSync(underWay)
  writeFileSync(join(underWay, 'git-rebase-todo'), 'exec make\n')
  for (const folder of ['sm', 'other', 'nested']) {
    const gitDir = await below(folder, 'rev-parse', '--absolute-git-dir')
    await below(folder, 'config', 'filter.own.clean', `touch ${ran}; cat`)
    await below(folder, 'config', 'core.fsmonitor', `touch ${ran}; false`)
    mkdirSync(join(gitDir, 'hooks'), { recursive: true })
    mkdirSync(join(gitDir, 'info'), { recursive: true })
    for (const hook of HOOKS) writeFileSync(join(gitDir, 'hooks', hook), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 })
    writeFileSync(join(gitDir, 'info/attributes'), '* filter=own\n')
    await put(`${folder}/new`, 'x\n')
    symlinkSync(underWay, join(gitDir, 'rebase-merge'))
  }
  await commitLeftovers({ worktree, branch, message: 'Leftovers\n' })
  rmSync(ran, { force: true })
  expect(readFileSync(join(underWay, 'git-rebase-todo'), 'utf8')).toBe('exec make\n')
  for (const folder of ['.', 'sm', 'nested']) {
    await below(folder, 'status')
    await below(folder, 'add', '-A')
    await below(folder, 'commit', '--quiet', '--allow-empty', '-m', 'by the person')
    await below(folder, 'checkout', '--quiet', '--detach')
  }
  await inside('submodule', 'status', 'sm')
  expect(ranOutside()).toBe('')
  expect(readlinkSync(join(worktree, 'other/.git'))).toContain(`gitdir: ${elsewhere}`)
  expect(await below('nested', 'config', 'remote.origin.url')).toBe(library.path)
  expect(await below('sm', 'log', '--format=%s')).toBe('by the person\nfirst')
  await library.remove()
})
