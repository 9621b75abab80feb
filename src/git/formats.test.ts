import { appendFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { makeRepository } from './new-repository.ts'
import { openRepository } from './repository.ts'
import { gitVersion } from './run.ts'
import { aRepository, runGit, type TestRepository } from './testkit.ts'

let repo: TestRepository
afterEach(() => repo.remove())

const knowsReftable = (await gitVersion()).localeCompare('2.45', 'en', { numeric: true }) >= 0

test.runIf(knowsReftable)('a repository with its refs in a reftable is refused, with the way out', async () => {
  repo = await aRepository()
  const path = join(repo.root, 'reftable')
  await runGit(repo.root, ['clone', '--quiet', '--template=', '--ref-format=reftable', repo.path, path])
  await expect(openRepository(path)).rejects.toMatchObject({
    message: `${path} keeps its refs as a reftable. Flotilla works only with refs in files.`,
    hint: `git -C ${path} refs migrate --ref-format=files`,
  })
  await runGit(path, ['refs', 'migrate', '--ref-format=files'])
  expect(await openRepository(path)).toMatchObject({ path })
})

test('a repository in a format that git does not know is refused as that', async () => {
  repo = await aRepository()
  await repo.git('config', 'core.repositoryFormatVersion', '1')
  await appendFile(join(repo.path, '.git/config'), '[extensions]\n\tfuture = yes\n')
  await expect(repo.open()).rejects.toThrow(/in a format that the installed git does not know: .*future/)
})

test.runIf(knowsReftable)('a new repository has its refs in files, whatever git makes by itself', async () => {
  repo = await aRepository()
  const home = join(repo.root, 'home')
  await mkdir(home)
  await runGit(repo.root, ['config', '--file', join(home, '.gitconfig'), 'init.defaultRefFormat', 'reftable'])
  const before = process.env.HOME
  process.env.HOME = home
  try {
    const path = join(repo.root, 'made')
    await makeRepository(path)
    expect(await openRepository(path)).toMatchObject({ path })
  } finally {
    process.env.HOME = before
  }
})
