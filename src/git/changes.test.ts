import { expect, onTestFinished, test } from 'vitest'
import { differenceOf, sizesOf } from './index.ts'
import { aRepository } from './testkit.ts'

test('every changed file has its size, whatever it is called and whatever it holds', async () => {
  const long = Array.from({ length: 20 }, (_, n) => `line ${n}\n`).join('')
  const repo = await aRepository({
    files: { 'kept.txt': 'a\nb\n', 'old name.txt': long, 'gone.txt': 'x\n', '3\t4\tfoo': long },
  })
  onTestFinished(repo.remove)
  const from = await repo.tip()
  await repo.git('mv', 'old name.txt', ':new M')
  await repo.git('mv', '3\t4\tfoo', '9\t9\tbar')
  await repo.git('rm', '--quiet', 'gone.txt')
  await repo.write('kept.txt', 'a\nc\nd\n')
  await repo.write('picture.bin', Buffer.from([0, 1, 2, 0]))
  const to = await repo.commit('changes', { ':new M': `${long}more\n` })

  const { files, added, deleted } = await sizesOf(await repo.open(), from, to)
  expect(files.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
    { path: '9\t9\tbar', from: '3\t4\tfoo', change: 'renamed', added: 0, deleted: 0 },
    { path: ':new M', from: 'old name.txt', change: 'renamed', added: 1, deleted: 0 },
    { path: 'gone.txt', change: 'deleted', added: 0, deleted: 1 },
    { path: 'kept.txt', change: 'modified', added: 2, deleted: 1 },
    { path: 'picture.bin', change: 'added', added: null, deleted: null },
  ])
  expect({ added, deleted }).toEqual({ added: 3, deleted: 2 })
  expect(await sizesOf(await repo.open(), to, to)).toEqual({ files: [], filesOmitted: 0, added: 0, deleted: 0 })
})

test('a list names the first of many files, and a full diff has all of them', async () => {
  const repo = await aRepository()
  onTestFinished(repo.remove)
  const from = await repo.tip()
  const files = Object.fromEntries(Array.from({ length: 310 }, (_, n) => [`many/${n}.txt`, 'x\n']))
  const to = await repo.commit('many', files)
  const sizes = await sizesOf(await repo.open(), from, to)
  expect({ listed: sizes.files.length, omitted: sizes.filesOmitted }).toEqual({ listed: 300, omitted: 10 })
  const whole = await differenceOf(await repo.open(), from, to, { maxBytes: 100, text: false })
  expect({ listed: whole!.files.length, omitted: whole!.filesOmitted }).toEqual({ listed: 310, omitted: 0 })
})
