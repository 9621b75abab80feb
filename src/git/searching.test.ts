import { expect, onTestFinished, test } from 'vitest'
import { commitsWith, linesWith, pathsWith } from './index.ts'
import { aRepository } from './testkit.ts'

const WITHIN = { limit: 10, withinMs: 20_000 }

async function searched() {
  const repo = await aRepository({
    files: {
      'src/boat.ts': 'const Hull = 1\n// the hull\n',
      'notes/Hull.md': 'nothing',
      'odd:name\ttab.txt': 'a keel',
    },
  })
  onTestFinished(() => repo.remove())
  await repo.write('picture.bin', Buffer.from([0, 1, 2, ...Buffer.from('hull')]))
  const tip = await repo.commit('Paint the HULL\n\nFleet-Mission: m1')
  return { repository: await repo.open(), tip, repo }
}

test('lines, paths and commits are found in any case; binary files are left out', async () => {
  const { repository, tip } = await searched()
  expect((await linesWith(repository, tip, { text: 'hull', ...WITHIN })).found).toEqual([
    { path: 'src/boat.ts', line: 1, text: 'const Hull = 1' },
    { path: 'src/boat.ts', line: 2, text: '// the hull' },
  ])
  expect((await linesWith(repository, tip, { text: 'keel', ...WITHIN })).found[0]).toMatchObject({
    line: 1,
    text: 'a keel',
  })
  expect(await pathsWith(repository, tip, { text: 'hull', ...WITHIN })).toEqual({
    found: ['notes/Hull.md'],
    more: false,
  })
  const { found } = await commitsWith(repository, tip, { text: 'hull', trailer: 'Fleet-Mission', ...WITHIN })
  expect(found).toMatchObject([{ commit: tip, subject: 'Paint the HULL', trailer: 'm1', author: 'A Person' }])
})

test('what is looked for is text, never an option or a pattern', async () => {
  const { repository, tip } = await searched()
  for (const text of ['--open-files-in-pager=touch /tmp/x', '-e', '.*', 'HEAD', ':(exclude)src', '$(id)']) {
    expect(await linesWith(repository, tip, { text, ...WITHIN })).toEqual({ found: [], more: false })
    expect(await commitsWith(repository, tip, { text, trailer: 'X', ...WITHIN })).toEqual({ found: [], more: false })
  }
})

test('it stops at the limit and at the time, and says so', async () => {
  const { repository, tip } = await searched()
  const one = await linesWith(repository, tip, { text: 'hull', limit: 1, withinMs: 20_000 })
  expect(one).toMatchObject({ found: [{ line: 1 }], more: true })
  expect(await linesWith(repository, tip, { text: 'hull', limit: 5, withinMs: 1 })).toMatchObject({ more: true })
})
