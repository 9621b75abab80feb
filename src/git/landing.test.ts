import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { advance } from './advance.ts'
import { changes } from './changes.ts'
import { usesOf } from './checkouts.ts'
import { commitTree, contains, isAncestor, mergeTips, mergeTrees, revertTree, treeOf } from './commits.ts'
import { differenceOf, liveDifferenceOf } from './differences.ts'
import { keepRef, keptRef } from './kept-refs.ts'
import { branchTip, type Repository, readRef } from './layout.ts'
import { commitLeftovers } from './leftovers.ts'
import { git } from './run.ts'
import { aRepository, runGit, type TestRepository } from './testkit.ts'
import { addWorktree, removeWorktree } from './worktrees.ts'

let at: TestRepository
let repo: Repository
const lines = (changed: Record<number, string> = {}) =>
  Array.from({ length: 30 }, (_, i) => `${changed[i] ?? `line ${i}`}\n`).join('')

beforeEach(async () => {
  at = await aRepository({ files: { '.gitignore': '.env\nbuild/\n', shared: lines(), other: 'other\n' } })
  repo = await at.open()
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await at.remove()
})

/** A mission's work: files written in a worktree of its own and committed on its branch. */
async function work(name: string, files: Record<string, string>, from = 'main') {
  const path = join(at.root, name)
  const branch = `fleet/shell/${name}/1`
  const { tip: start } = await addWorktree(repo, { path, branch, from })
  for (const [file, content] of Object.entries(files)) {
    await mkdir(join(path, file, '..'), { recursive: true })
    await writeFile(join(path, file), content)
  }
  // An agent has to force git to commit an ignored file.
  await runGit(path, ['add', '--force', '-A'])
  const { tip } = await commitLeftovers({ worktree: path, branch, message: `Work of ${name}\n` })
  return { path, branch, start, tip }
}

async function candidate(tip: string, message = 'Land it\n') {
  const base = await branchTip(repo, 'main')
  const merged = await mergeTrees(repo, base!, tip)
  if ('conflicts' in merged) throw new Error(`conflict in ${merged.conflicts.map(conflict => conflict.path)}`)
  return { branch: 'main', from: base!, to: await commitTree(repo, { tree: merged.tree, parents: [base!], message }) }
}

const status = () => at.git('status', '--porcelain', '--ignored')

test('a landing is one commit with one parent, on the branch and in the clean checkout', async () => {
  const { tip } = await work('w', { new: 'new\n' })
  const step = await candidate(tip, 'Add new\n\nMission: $(touch pwned)\n')
  expect(await contains(repo, 'main', step.to)).toBe(false)
  expect(await advance(repo, step)).toEqual({ moved: true })
  expect(await at.read('new')).toBe('new\n')
  expect(await status()).toBe('')
  expect(await at.git('log', '-1', '--format=%P%n%B')).toBe(`${step.from}\nAdd new\n\nMission: $(touch pwned)\n`)
  expect(await contains(repo, 'main', step.to)).toBe(true)
  expect(await advance(repo, step)).toEqual({ moved: true })
})

test('the tree of a tip that goes on from the base needs no merge and is the same', async () => {
  const { tip, start } = await work('w', { new: 'new\n' })
  const merged = await mergeTrees(repo, start, tip)
  const known = await mergeTrees(repo, start, tip, start)
  expect(known).toEqual({ tree: `${tip}^{tree}` })
  expect(merged).toEqual({ tree: await treeOf(repo, tip) })
  const commit = await commitTree(repo, { tree: `${tip}^{tree}`, parents: [start], message: 'x' })
  expect(await treeOf(repo, commit)).toBe(await treeOf(repo, tip))
})

test('what the person has not committed survives byte for byte', async () => {
  await at.write('other', 'edited\n')
  await at.write('staged', 'staged\n')
  await at.git('add', 'staged')
  await at.write('staged', 'staged, then edited\n')
  await at.write('untracked', 'untracked\n')
  await at.write('.env', 'SECRET=person\n')
  await at.git('config', 'merge.autoStash', 'true')
  await at.git('config', 'branch.main.mergeOptions', '--squash --no-ff --autostash --overwrite-ignore')
  const before = await status()

  const { tip } = await work('w', { new: 'new\n' })
  expect(await advance(repo, await candidate(tip))).toEqual({ moved: true })
  expect(await status()).toBe(before)
  expect(await at.git('show', ':staged')).toBe('staged')
  const kept = await Promise.all(['other', 'staged', 'untracked', '.env', 'new'].map(file => at.read(file)))
  expect(kept).toEqual(['edited\n', 'staged, then edited\n', 'untracked\n', 'SECRET=person\n', 'new\n'])
})

test.each([
  ['an ignored .env', '.env', '.env'],
  ['an untracked file', 'nëw "file"', 'nëw "file"'],
  ['an edited file', 'other', 'other'],
  ['a file where a folder must go', 'folder', 'folder/inner'],
  ['an ignored file where a folder must go', 'build/x', 'build'],
])('%s in the way is named and untouched', async (_, theirs, landed) => {
  await at.write(theirs, 'of the person\n')
  const before = [await status(), await at.tip()]
  const { tip } = await work('w', { [landed]: 'of the agent\n' })
  const outcome = await advance(repo, await candidate(tip))
  expect(outcome).toMatchObject({ blocked: 'files', where: at.path })
  expect('paths' in outcome && outcome.paths[0]).toMatch(/^(\.env|nëw "file"|other|folder|build)/)
  expect([await status(), await at.tip()]).toEqual(before)
  expect(await at.read(theirs)).toBe('of the person\n')
})

test('rejecting hooks of the person do not run, and without an identity the landing is by Flotilla', async () => {
  const { tip } = await work('w', { new: 'new\n' })
  const home = await mkdtemp(join(tmpdir(), 'flotilla-home-'))
  vi.stubEnv('HOME', home)
  vi.stubEnv('XDG_CONFIG_HOME', home)
  await at.git('config', '--remove-section', 'user')
  await mkdir(join(at.path, '.git/hooks'), { recursive: true })
  for (const hook of ['pre-merge-commit', 'post-merge', 'reference-transaction', 'post-checkout']) {
    await writeFile(join(at.path, '.git/hooks', hook), '#!/bin/sh\ntouch hook-ran\nexit 1\n')
    await chmod(join(at.path, '.git/hooks', hook), 0o755)
  }
  expect(await advance(repo, await candidate(tip))).toEqual({ moved: true })
  expect(await status()).toBe('')
  expect(await at.git('log', '-1', '--format=%an <%ce>')).toBe('Flotilla <fleet@localhost>')
  await rm(home, { recursive: true })
})

test('a base checked out nowhere, or in a bare repository, is moved by itself', async () => {
  const { tip } = await work('w', { new: 'new\n' })
  await at.git('checkout', '--quiet', '--detach')
  expect(await usesOf(repo, 'main')).toEqual([])
  const step = await candidate(tip)
  expect(await advance(repo, step)).toEqual({ moved: true })
  expect(await at.tip()).toBe(step.to)
  expect(await status()).toBe('')

  const bare = await aRepository({ bare: true, branch: 'trunk' })
  const opened = await bare.open()
  const from = await bare.tip()
  const to = await commitTree(opened, { tree: `${from}^{tree}`, parents: [from], message: 'x' })
  expect(await advance(opened, { branch: 'trunk', from, to })).toEqual({ moved: true })
  expect(await bare.tip()).toBe(to)
  await bare.remove()
})

test('a base checked out in another worktree is moved there', async () => {
  await at.git('checkout', '--quiet', '--detach')
  await at.git('worktree', 'add', '--quiet', '../linked', 'main')
  const { tip } = await work('w', { new: 'new\n' })
  expect(await usesOf(repo, 'main')).toEqual([{ path: join(at.root, 'linked') }])
  expect(await advance(repo, await candidate(tip))).toEqual({ moved: true })
  expect(await readFile(join(at.root, 'linked/new'), 'utf8')).toBe('new\n')
})

test('a worktree that was thrown away holds no branch back, one on a disk that is away does', async () => {
  await at.git('checkout', '--quiet', '--detach')
  await at.git('worktree', 'add', '--quiet', '../linked', 'main')
  const step = await candidate((await work('w', { new: 'new\n' })).tip)
  await at.git('worktree', 'lock', '../linked')
  await rm(join(at.root, 'linked'), { recursive: true })
  expect(await advance(repo, step)).toMatchObject({ blocked: 'busy', doing: 'away' })
  await at.git('worktree', 'unlock', '../linked')
  expect(await advance(repo, step)).toEqual({ moved: true })
})

test('attributes of the repository decide how files merge', async () => {
  await at.commit('attributes', { '.gitattributes': 'NEWS merge=union\n', NEWS: 'old\n' })
  const [one, two] = await Promise.all([work('one', { NEWS: 'one\nold\n' }), work('two', { NEWS: 'two\nold\n' })])
  await advance(repo, await candidate(one.tip))
  expect(await advance(repo, await candidate(two.tip))).toEqual({ moved: true })
  expect((await at.read('NEWS')).split('\n').sort()).toEqual(['', 'old', 'one', 'two'])
})

test('a base that moved is told, whoever moved it', async () => {
  const { tip } = await work('w', { new: 'new\n' })
  const step = await candidate(tip)
  const theirs = await at.commit('by the person', { theirs: '1' })
  expect(await advance(repo, step)).toEqual({ raced: theirs })
  expect(await at.tip()).toBe(theirs)
})

test.each(['merge', 'rebase', 'bisect', 'rebase --update-refs'])(
  'a base in the middle of a %s is busy',
  async doing => {
    const { tip } = await work('w', { new: 'new\n' })
    const step = await candidate(tip)
    await at.git('checkout', '--quiet', '-b', 'side', 'main')
    const side = await at.commit('side', { other: 'side\n' })
    const changed = await at.git('commit-tree', `${side}^{tree}`, '-p', 'main', '-m', 'x')
    await at.git('checkout', '--quiet', 'main')
    const base = await at.commit('main', { other: 'main\n' })
    if (doing === 'merge') await expect(at.git('merge', 'side')).rejects.toThrow()
    if (doing === 'rebase') await expect(at.git('rebase', changed)).rejects.toThrow()
    if (doing === 'bisect') await at.git('bisect', 'start', 'HEAD', 'HEAD~1')
    if (doing === 'rebase --update-refs') {
      await at.git('checkout', '--quiet', '-b', 'above')
      await at.commit('above', { above: '1' })
      await expect(at.git('rebase', '--update-refs', changed)).rejects.toThrow()
    }
    expect(await advance(repo, { ...step, from: base })).toEqual({
      blocked: 'busy',
      where: at.path,
      doing: doing.replace(' --update-refs', ''),
    })
    expect(await at.tip()).toBe(base)
  },
)

test('another git at work in the checkout is waited out by the caller', async () => {
  const { tip } = await work('w', { new: 'new\n' })
  const step = await candidate(tip)
  await writeFile(join(at.path, '.git/index.lock'), '')
  expect(await advance(repo, step)).toEqual({ blocked: 'locked', where: at.path })
  await rm(join(at.path, '.git/index.lock'))
  expect(await advance(repo, step)).toEqual({ moved: true })
})

test('twenty landings at once lose no change and leave the file being edited alone', async () => {
  await at.write('other', 'being edited\n')
  const works = await Promise.all(Array.from({ length: 20 }, (_, i) => work(`w${i}`, { [`file ${i}`]: `${i}\n` })))
  await Promise.all(
    works.map(async ({ tip }) => {
      for (;;) {
        const outcome = await advance(repo, await candidate(tip))
        if ('moved' in outcome) return
        expect('raced' in outcome || outcome.blocked === 'busy').toBe(true)
      }
    }),
  )
  expect(await at.filesOn('main')).toEqual(expect.arrayContaining(works.map((_, i) => `file ${i}`)))
  expect(Number(await at.git('rev-list', '--count', 'main'))).toBe(21)
  expect(await at.git('status', '--porcelain')).toBe(' M other')
})

test('two changes of one line conflict, and the conflict names path and kind', async () => {
  const one = await work('one', { shared: lines({ 3: 'one' }), 'größe $(x)': '1' })
  const two = await work('two', { shared: lines({ 3: 'two' }), 'größe $(x)': '2' })
  await advance(repo, await candidate(one.tip))
  expect(await mergeTrees(repo, await at.tip(), two.tip)).toEqual({
    tree: expect.any(String),
    conflicts: expect.arrayContaining([
      expect.objectContaining({ path: 'shared', kind: 'contents' }),
      expect.objectContaining({ path: 'größe $(x)', kind: expect.stringMatching(/contents|add\/add/) }),
    ]),
  })
})

test('a tip that shares no history is refused in words', async () => {
  const orphan = await commitTree(repo, { tree: 'main^{tree}', parents: [], message: 'x' })
  await expect(mergeTrees(repo, await at.tip(), orphan)).rejects.toThrow('shares no history')
})

test('undo takes one landing back under later ones; it can land again; twice is nothing', async () => {
  const one = await work('one', { shared: lines({ 3: 'one' }) })
  const landed = await candidate(one.tip)
  await advance(repo, landed)
  const two = await work('two', { shared: lines({ 3: 'one', 20: 'two' }) })
  await advance(repo, await candidate(two.tip))

  const onto = await at.tip()
  const undone = await revertTree(repo, { commit: landed.to, onto })
  if (undone === 'nothing' || 'conflicts' in undone) throw new Error('not undone')
  const to = await commitTree(repo, { tree: undone.tree, parents: [onto], message: 'Undo\n' })
  expect(await advance(repo, { branch: 'main', from: onto, to })).toEqual({ moved: true })
  expect(await at.read('shared')).toBe(lines({ 20: 'two' }))
  expect(await revertTree(repo, { commit: landed.to, onto: to })).toBe('nothing')

  expect(await advance(repo, await candidate(one.tip))).toEqual({ moved: true })
  expect(await at.read('shared')).toBe(lines({ 3: 'one', 20: 'two' }))
})

test('undo of what was changed again is a conflict, of what never landed nothing', async () => {
  const one = await work('one', { shared: lines({ 3: 'one' }) })
  expect(await revertTree(repo, { commit: one.tip, onto: await at.tip() })).toBe('nothing')
  const landed = await candidate(one.tip)
  await advance(repo, landed)
  const onto = await at.commit('again', { shared: lines({ 3: 'again' }) })
  expect(await revertTree(repo, { commit: landed.to, onto })).toEqual({
    tree: expect.any(String),
    conflicts: [expect.objectContaining({ path: 'shared', kind: 'contents' })],
  })
})

test('several kept branches become one start, or name their conflict', async () => {
  const [a, b, c] = await Promise.all([work('a', { a: '1' }), work('b', { b: '1' }), work('c', { c: '1' })])
  const merged = await mergeTips(repo, [a.tip, b.tip, c.tip, a.tip])
  if ('conflicts' in merged) throw new Error('conflict')
  expect(await at.filesOn(merged.commit)).toEqual(expect.arrayContaining(['a', 'b', 'c']))
  for (const { tip } of [a, b, c]) expect(await isAncestor(repo, tip, merged.commit)).toBe(true)
  const d = await work('d', { a: '2' })
  expect(await mergeTips(repo, [a.tip, d.tip])).toMatchObject({ conflicts: [{ path: 'a' }] })
})

test('changes are told from git: renames, non-ASCII names, several commits, descent', async () => {
  const { path, branch, start, tip } = await work('w', { 'größe\n"x"': 'new', shared: lines({ 1: 'x' }) })
  expect(await changes(repo, start, tip)).toEqual({
    files: [
      { path: 'größe\n"x"', change: 'added' },
      { path: 'shared', change: 'modified' },
    ],
    filesOmitted: 0,
    commits: [{ commit: tip, subject: 'Work of w' }],
    commitsOmitted: 0,
    descends: true,
  })
  await runGit(path, ['mv', 'shared', 'geteilt'])
  await runGit(path, ['rm', '--quiet', 'other'])
  const { tip: later } = await commitLeftovers({ worktree: path, branch, message: ':100644 hostile A' })
  const all = await changes(repo, start, later)
  expect(all.files).toEqual(
    [
      { path: 'shared', change: 'renamed', from: 'shared' },
      { path: 'größe\n"x"', change: 'added' },
      { path: 'other', change: 'deleted' },
    ].map(file => (file.from ? { ...file, path: 'geteilt' } : file)),
  )
  expect(all.commits.map(({ subject }) => subject)).toEqual([':100644 hostile A', 'Work of w'])
  expect(all.descends).toBe(true)
  expect((await changes(repo, later, start)).descends).toBe(false)
})

test('a diff is capped, and a live one has what is not committed without touching the index', async () => {
  const { path, start, tip } = await work('w', { added: 'added\n' })
  expect((await differenceOf(repo, start, tip, { maxBytes: 10_000 }))?.text).toContain('+added')
  expect(await differenceOf(repo, start, tip, { maxBytes: 20 })).toMatchObject({
    ...{ text: 'diff --git a/added b', truncated: true },
  })

  await writeFile(join(path, 'ünträcked'), 'fresh\n')
  await writeFile(join(path, 'shared'), lines({ 5: 'live' }))
  const index = join(at.path, '.git/worktrees/w/index')
  const before = await readFile(index)
  const { text, files } = (await liveDifferenceOf(path, start, { maxBytes: 100_000 }))!
  for (const part of ['+added', '+fresh', '+live', 'b/ünträcked']) expect(text).toContain(part)
  expect(files.map(({ change, path, added }) => `${change} ${path} ${added}`)).toEqual([
    'added added 1',
    'modified shared 1',
    'added ünträcked 1',
  ])
  expect(await readFile(index)).toEqual(before)
})

test('a failure of git names the files it is about, and not without end', async () => {
  await at.git('checkout', '--quiet', '-b', 'theirs')
  await at.commit('theirs', { shared: 'theirs', other: 'theirs' })
  await at.git('checkout', '--quiet', 'main')
  await at.write('shared', 'mine')
  await at.write('other', 'mine')
  await expect(git(at.path, ['checkout', 'theirs'])).rejects.toThrow(/would be overwritten by checkout: other shared/)
  const long = await git(at.path, ['cat-file', '-e', 'x'.repeat(5000)]).catch(failure => failure)
  expect(long.message.length).toBeLessThan(1000)
})

test('a kept ref outlives branch and worktree, and letting go is one step that may be repeated', async () => {
  const { path, branch, tip } = await work('w', { new: 'x' })
  const ref = keptRef('mission1', 1)
  await removeWorktree(repo, path)
  await keepRef(repo, { ref, oid: tip, deleteBranch: branch })
  await keepRef(repo, { ref, oid: tip, deleteBranch: branch })
  await expect(at.tip(branch)).rejects.toThrow()
  expect(await readRef(repo, ref)).toBe(tip)

  await at.git('branch', 'moved', 'main')
  await expect(keepRef(repo, { ref, oid: tip, deleteBranch: 'moved' })).rejects.toThrow('has moved on')
})
