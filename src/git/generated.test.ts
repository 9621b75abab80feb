import { afterEach, beforeEach, expect, test } from 'vitest'
import { markedGenerated } from './generated.ts'
import { aRepository, type TestRepository } from './testkit.ts'

let repo: TestRepository
beforeEach(async () => {
  repo = await aRepository({ files: { 'a.txt': 'a\n' } })
})
afterEach(() => repo.remove())

const marks = async (...paths: string[]) =>
  Object.fromEntries(await markedGenerated(await repo.open(), await repo.tip(), paths))

test('a commit says which files are generated, in each folder, and the checkout has no say', async () => {
  await repo.commit('attributes', {
    '.gitattributes': 'api/*.ts linguist-generated\n*.lock -linguist-generated\ngröße linguist-generated=true\n',
    'api/inner/.gitattributes': '*.go linguist-generated=true\nby-hand.go linguist-generated=false\n',
    'api/client.ts': 'x\n',
  })
  await repo.write('.gitattributes', '* linguist-generated\n')
  expect(await marks('api/client.ts', 'api/inner/a.go', 'api/inner/by-hand.go', 'x.lock', 'src/a.ts', 'größe')).toEqual(
    {
      ...{ 'api/client.ts': true, 'api/inner/a.go': true, 'api/inner/by-hand.go': false, 'x.lock': false, größe: true },
    },
  )
})

test('a repository without attributes says nothing', async () => {
  expect(await marks('a.txt', 'b/c.txt')).toEqual({})
})
