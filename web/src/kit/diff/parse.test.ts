import { chmod, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { aRepository } from '../../../../src/git/testkit.ts'
import { linesIn } from './highlight.ts'
import { type FileDiff, parseDiff, unquoted } from './parse.ts'

const HOSTILE = [
  'plain.txt',
  'with space.txt',
  ' leading and trailing ',
  'tab\tand\nnewline',
  'quote"back\\slash',
  'ümläut 😀.txt',
  'a b/a b/c.txt',
  '<script>alert(1)</script>',
  '\u202egnp.exe',
  'b\x07\x1b[31mell',
]

/** The output of git itself for two states of a folder. */
async function gitDiff(before: Record<string, string>, change: (path: string) => Promise<void>): Promise<FileDiff[]> {
  const repo = await aRepository({ files: before })
  onTestFinished(() => repo.remove())
  await change(repo.path)
  await repo.git('add', '--all')
  return parseDiff(await repo.git('diff', '--cached', '-M', '--no-color', '--no-ext-diff'))
}

test('whatever a file is called, its name is read as it is', async () => {
  const before = Object.fromEntries(HOSTILE.map(path => [path, 'old\n']))
  const files = await gitDiff(before, async root => {
    for (const path of HOSTILE) await writeFile(join(root, path), 'new\n')
  })
  expect(files.map(file => file.path).sort()).toEqual([...HOSTILE].sort())
  for (const file of files) expect(file).toMatchObject({ change: 'modified', additions: 1, deletions: 1, from: null })
})

test('new, gone, renamed, binary, empty, and other rights', async () => {
  const text = Array.from({ length: 20 }, (_, at) => `line ${at}`).join('\n')
  const before = {
    'gone.txt': 'was here',
    'moved from.txt': text,
    'run.sh': 'echo\n',
    'image.bin': '\0old',
    'same "q"': '',
  }
  const files = await gitDiff(before, async root => {
    await rm(join(root, 'gone.txt'))
    await rename(join(root, 'moved from.txt'), join(root, 'moved to.txt'))
    await chmod(join(root, 'run.sh'), 0o755)
    await writeFile(join(root, 'image.bin'), '\0new')
    await writeFile(join(root, 'new empty'), '')
    await chmod(join(root, 'same "q"'), 0o755)
  })
  const named = (path: string) => files.find(file => file.path === path)
  expect(named('gone.txt')).toMatchObject({ change: 'deleted', deletions: 1, oldMode: '100644', newMode: null })
  expect(named('gone.txt')!.hunks[0]!.lines).toEqual([
    { sign: '-', text: 'was here', old: 1, new: null, unended: true },
  ])
  expect(named('moved to.txt')).toMatchObject({ change: 'renamed', from: 'moved from.txt', hunks: [] })
  expect(named('run.sh')).toMatchObject({ change: 'modified', oldMode: '100644', newMode: '100755', hunks: [] })
  expect(named('same "q"')).toMatchObject({ newMode: '100755' })
  expect(named('image.bin')).toMatchObject({ binary: true, hunks: [] })
  expect(named('new empty')).toMatchObject({ change: 'added', hunks: [] })
  expect(files).toHaveLength(6)
})

test('a file full of what looks like heads of diffs is one file', async () => {
  const trap = [
    'diff --git a/x b/x',
    '--- a/x',
    '+++ b/x',
    '@@ -1,2 +1,2 @@',
    '-- old',
    '++ new',
    '\\ No newline at end of file',
    'Binary files a and b differ',
    '',
  ]
  const files = await gitDiff({ 'trap.txt': trap.join('\n') }, async root => {
    await writeFile(join(root, 'trap.txt'), [...trap.toReversed(), 'end'].join('\n'))
  })
  expect(files).toHaveLength(1)
  const [file] = files
  expect(file).toMatchObject({ path: 'trap.txt', binary: false })
  const now = file!.hunks.flatMap(hunk => hunk.lines.filter(line => line.sign !== '-').map(line => line.text))
  expect(now).toEqual([...trap.toReversed(), 'end'])
  expect(file!.hunks[0]!.lines.at(-1)).toMatchObject({ text: 'end', unended: true })
})

test('numbers go on over hunks, and a hunk says where it is', async () => {
  const lines = Array.from({ length: 40 }, (_, at) => (at === 0 ? 'function outer() {' : `  step(${at})`))
  const files = await gitDiff({ 'a.js': lines.join('\n') }, async root => {
    await writeFile(join(root, 'a.js'), lines.toSpliced(5, 1, 'two', 'lines').toSpliced(31, 1).join('\n'))
  })
  const [first, second] = files[0]!.hunks
  expect(first!.lines.find(line => line.text === 'lines')).toMatchObject({ old: null, new: 7 })
  expect(second!.lines.find(line => line.sign === '-')).toMatchObject({ old: 31, new: null })
  expect(second!.section).toBe('function outer() {')
})

test('one that is cut off in the middle is read as far as it goes', () => {
  const text = 'diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -1,9 +1,9 @@\n one\n-two\n+tw'
  const [file] = parseDiff(text)
  expect(file!.hunks[0]!.lines.map(line => line.sign + line.text)).toEqual([' one', '-two', '+tw'])
  expect(parseDiff('')).toEqual([])
  expect(parseDiff('no diff at all\n')).toEqual([])
})

test('a diff without a head, and one that git did not write', () => {
  expect(parseDiff('@@ -3 +3 @@\n-a\n+b\n')[0]!.hunks[0]!.lines).toEqual([
    { sign: '-', text: 'a', old: 3, new: null },
    { sign: '+', text: 'b', old: null, new: 3 },
  ])
  const two = '--- one.txt\n+++ one.txt\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/two.txt\n@@ -0,0 +1 @@\n+c\n'
  expect(parseDiff(two)).toMatchObject([
    { path: 'one.txt', change: 'modified' },
    { path: 'two.txt', change: 'added' },
  ])
})

test('names in quotes are bytes', () => {
  expect(unquoted('"a/\\303\\244\\t\\"x\\\\"')).toBe('a/ä\t"x\\')
  expect(unquoted('"broken\\')).toBe('broken?')
  expect(unquoted('"\\377"')).toBe('\ufffd')
})

test('ten megabytes are read in one go', () => {
  const hunk = `@@ -1,1000 +1,1000 @@\n${Array.from({ length: 1000 }, (_, at) => `-old ${at}\n+new ${at}\n`).join('')}`
  const file = `diff --git a/f b/f\n--- a/f\n+++ b/f\n${hunk}`
  const text = file.repeat(Math.ceil(10_000_000 / file.length))
  const start = performance.now()
  expect(parseDiff(text).length).toBeGreaterThan(300)
  expect(performance.now() - start).toBeLessThan(5000)
})

test('a token over several lines is on each of them', () => {
  const comment = {
    type: 'element',
    properties: { className: ['hljs-comment'] },
    children: [{ type: 'text', value: '/*\nx */' }],
  }
  expect(linesIn({ type: 'root', children: [comment, { type: 'text', value: ' y' }] })).toEqual([
    [{ text: '/*', kind: 'comment' }],
    [{ text: 'x */', kind: 'comment' }, { text: ' y' }],
  ])
})
