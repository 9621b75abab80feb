import { appendFileSync, chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { advance } from '../advance.ts'
import { changes } from '../changes.ts'
import { commitTree, mergeTrees } from '../commits.ts'
import { differenceOf, liveDifferenceOf } from '../differences.ts'
import { commitLeftovers } from '../leftovers.ts'
import { mergeInto } from '../merge-into.ts'
import { aRepository, runGit, type TestRepository } from '../testkit.ts'
import { addPlace } from './making.ts'
import { unheld } from './unheld.ts'

/** Whatever a person has set for their own git, the same work lands as from a plain clone without these settings. */
const SETTINGS: readonly (readonly [key: string, value: string])[] = [
  ...['--verify-signatures', '--no-ff', '--squash', '--no-commit', '--signoff', '-s ours', '-X theirs', '--log'].map(
    options => ['branch.main.mergeOptions', options] as const,
  ),
  ['commit.gpgSign', 'true'],
  ['gpg.program', '/nowhere/gpg'],
  ['merge.verifySignatures', 'true'],
  ['merge.ff', 'only'],
  ['merge.ff', 'false'],
  ['merge.log', 'true'],
  ['merge.autoStash', 'true'],
  ['merge.conflictStyle', 'diff3'],
  ['pull.twohead', 'ours'],
  ['pull.rebase', 'true'],
  ['rebase.autoStash', 'true'],
  ['commit.template', '/nowhere/template'],
  ['commit.cleanup', 'scissors'],
  ['commit.verbose', 'true'],
  ['commit.status', 'false'],
  ['core.commentChar', 'W'],
  ['core.editor', 'false'],
  ['core.pager', 'false'],
  ['pager.log', 'true'],
  ['core.hooksPath', '.git/failing'],
  ['i18n.commitEncoding', 'ISO-8859-1'],
  ['i18n.logOutputEncoding', 'ISO-8859-1'],
  ['core.autocrlf', 'true'],
  ['core.autocrlf', 'input'],
  ['core.eol', 'crlf'],
  ['core.safecrlf', 'true'],
  ['core.whitespace', 'cr-at-eol'],
  ['apply.whitespace', 'error'],
  ['core.quotePath', 'true'],
  ['core.precomposeUnicode', 'true'],
  ['core.protectHFS', 'true'],
  ['core.fileMode', 'false'],
  ['core.symlinks', 'false'],
  ['core.ignoreStat', 'true'],
  ['core.trustctime', 'false'],
  ['core.checkStat', 'minimal'],
  ['core.untrackedCache', 'true'],
  ['core.fsmonitor', 'true'],
  ['core.splitIndex', 'true'],
  ['core.sharedRepository', 'group'],
  ['core.logAllRefUpdates', 'false'],
  ['core.abbrev', '4'],
  ['feature.manyFiles', 'true'],
  ['index.version', '4'],
  ['diff.external', 'false'],
  ['diff.orderFile', '/nowhere/order'],
  ['diff.noprefix', 'true'],
  ['diff.mnemonicPrefix', 'true'],
  ['diff.renames', 'false'],
  ['diff.relative', 'true'],
  ['diff.ignoreSubmodules', 'all'],
  ['color.ui', 'always'],
  ['color.diff', 'always'],
  ['column.ui', 'always'],
  ['status.showUntrackedFiles', 'no'],
  ['status.short', 'true'],
  ['status.relativePaths', 'false'],
  ['status.showStash', 'true'],
  ['status.renames', 'copies'],
  ['log.showSignature', 'true'],
  ['log.decorate', 'full'],
  ['log.date', 'relative'],
  ['log.showRoot', 'false'],
  ['log.follow', 'true'],
  ['log.mailmap', 'true'],
  ['format.pretty', 'oneline'],
  ['submodule.recurse', 'true'],
  ['fetch.prune', 'true'],
  ['fetch.fsckObjects', 'true'],
  ['push.default', 'nothing'],
  ['pack.packSizeLimit', '1m'],
  ['receive.denyCurrentBranch', 'refuse'],
  ['user.useConfigOnly', 'true'],
  ['checkout.defaultRemote', 'nowhere'],
  ['checkout.workers', '4'],
  ['advice.detachedHead', 'false'],
  ['alias.merge', 'reset'],
  ['safe.bareRepository', 'explicit'],
]

const FILES = {
  'edited.txt': 'one\ntwo\nthree\n',
  deleted: 'deleted\n',
  renamed: 'renamed\nrenamed\nrenamed\n',
  'chmod.sh': 'echo\n',
  'größe/datei.txt': 'eins\n',
}
const branch = 'fleet/shell/w/1'
const MESSAGE = 'Größe ändern\n\n# no comment\nWhat it did\n'

/** What a mission does to its files. */
function work(folder: string): void {
  const at = (name: string) => join(folder, name)
  writeFileSync(at('added.txt'), 'added\n')
  writeFileSync(at('added.sh'), 'echo\n', { mode: 0o755 })
  symlinkSync('edited.txt', at('added-link'))
  appendFileSync(at('edited.txt'), 'four\n')
  rmSync(at('deleted'))
  renameSync(at('renamed'), at('größe/moved'))
  chmodSync(at('chmod.sh'), 0o755)
  rmSync(at('link'))
  writeFileSync(at('link'), 'edited.txt')
}

let repo: TestRepository
let worktree: string
let plain: string

beforeEach(async () => {
  repo = await aRepository({ files: FILES })
  symlinkSync('edited.txt', join(repo.path, 'link'))
  await repo.commit('with a link')
  worktree = join(repo.root, 'home/worktrees/p/w')
  plain = join(repo.root, 'plain')
  await runGit(repo.root, ['clone', '--quiet', repo.path, plain])
  // Settings of the person's account are read from here.
  mkdirSync(join(repo.root, 'account'))
  vi.stubEnv('HOME', join(repo.root, 'account'))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await repo.remove()
})

const HOOKS = ['pre-commit', 'prepare-commit-msg', 'commit-msg', 'pre-merge-commit', 'reference-transaction']

async function set(key: string, value: string): Promise<void> {
  // Git asks only the person's account for these.
  await repo.git('config', key.startsWith('safe.') ? '--global' : '--local', key, value)
  if (key !== 'core.hooksPath') return
  mkdirSync(join(repo.path, '.git', 'failing'))
  for (const hook of HOOKS) writeFileSync(join(repo.path, '.git/failing', hook), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
}

/** The tree of a plain clone after the same work, together with the person's own commit. */
async function expected(): Promise<string> {
  work(plain)
  appendFileSync(join(plain, 'größe/datei.txt'), 'zwei\n')
  await runGit(plain, ['-c', 'core.hooksPath=/dev/null', 'add', '-A'], { GIT_CONFIG_GLOBAL: '/dev/null' })
  return runGit(plain, ['write-tree'], { GIT_CONFIG_GLOBAL: '/dev/null' })
}

test.each(SETTINGS)('%s = %s changes nothing of what lands', async (...setting) => {
  const wanted = await expected()
  const start = await repo.tip()
  // The person's own next commit, so that the work has to be merged.
  await repo.git('checkout', '--quiet', '-b', 'next')
  appendFileSync(join(repo.path, 'größe/datei.txt'), 'zwei\n')
  const base = await repo.commit('next')
  await repo.git('checkout', '--quiet', 'main')
  await set(...setting)

  const open = await repo.open()
  const given = { base: 'main', session: 's1', allowPush: false, hooks: false }
  await addPlace(open, { path: worktree, branch, from: 'main', ...given })
  expect(await unheld(worktree, [])).toEqual([])
  work(worktree)
  const live = await liveDifferenceOf(worktree, start, { maxBytes: 100_000 })
  const { tip, skipped } = await commitLeftovers({ worktree, branch, message: MESSAGE })
  expect(skipped).toEqual([])
  expect(await unheld(worktree, [])).toEqual([])

  const shown = await differenceOf(open, start, tip, { maxBytes: 100_000 })
  expect(live?.files.map(file => file.path)).toEqual(shown?.files.map(file => file.path))
  expect(shown?.text).toContain('+four')
  expect(shown?.text).toContain('--- a/edited.txt')
  const known = await changes(open, start, tip)
  expect(known.files.map(({ path, change }) => `${change} ${path}`)).toEqual([
    'added added-link',
    'added added.sh',
    'added added.txt',
    'modified chmod.sh',
    'deleted deleted',
    'modified edited.txt',
    'renamed größe/moved',
    'modified link',
  ])
  expect(known.commits.map(commit => commit.subject)).toEqual(['Größe ändern'])

  expect(await advance(open, { branch: 'main', from: start, to: base })).toEqual({ moved: true })
  const merged = await mergeTrees(open, base, tip)
  if ('conflicts' in merged) throw new Error('in conflict')
  const to = await commitTree(open, { tree: merged.tree, parents: [base], message: MESSAGE })
  expect(await advance(open, { branch: 'main', from: base, to })).toEqual({ moved: true })
  expect(await repo.tip()).toBe(to)
  expect(await asPlain('rev-parse', 'main^{tree}')).toBe(wanted)
  expect(await asPlain('log', '-1', '--format=%B', 'main')).toBe(MESSAGE)
  expect(await asPlain('status', '--porcelain')).toBe('')

  expect(await mergeInto(worktree, to)).toMatchObject({ tip: expect.stringMatching(/^[0-9a-f]{40}$/) })
  expect(await runGit(worktree, ['rev-parse', 'HEAD^{tree}'])).toBe(wanted)
})

/** Runs git in the person's repository, without settings that change what git prints. */
const asPlain = (...args: string[]) =>
  runGit(repo.path, [
    ...['-c', 'i18n.logOutputEncoding=UTF-8', '-c', 'log.showSignature=false', '-c', 'color.ui=false'],
    ...['-c', 'column.ui=never', '-c', 'core.fsmonitor=false', '-c', 'status.short=false'],
    ...args,
  ])
