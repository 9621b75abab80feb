import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gitVersion } from '../../../src/git/run.ts'
import { runGit } from '../../../src/git/testkit.ts'
import { aScene } from '../../kit/scene.ts'

const AS = ['-c', 'user.name=A Person', '-c', 'user.email=person@example.com']
const knowsReftable = (await gitVersion()).localeCompare('2.45', 'en', { numeric: true }) >= 0

test('work lands in a repository that names objects by SHA-256', async () => {
  const { fleet, repo } = await aScene()
  const path = join(repo.root, 'sha256')
  await runGit(repo.root, ['init', '--quiet', '--template=', '--object-format=sha256', '-b', 'main', path])
  await writeFile(join(path, 'a'), 'one\n')
  await runGit(path, ['add', '-A'])
  await runGit(path, [...AS, 'commit', '--quiet', '-m', 'first'])
  const project = await fleet.project(path)
  const { id } = await fleet.mission(project, 'echo x > x.txt')
  expect(await fleet.until(id, 'done', 'review', 'failed')).toMatchObject({ result: 'landed' })
  expect(await runGit(path, ['show', 'main:x.txt'])).toBe('x')
  expect(await runGit(path, ['rev-parse', 'main'])).toHaveLength(64)
})

test('a repository in a format that git does not know is no project, and it is said why', async () => {
  const { fleet, repository } = await aScene()
  const other = await repository()
  await other.git('config', 'core.repositoryFormatVersion', '1')
  await appendFile(join(other.path, '.git/config'), '[extensions]\n\tfuture = yes\n')
  await expect(fleet.call('create_project', { path: other.path })).rejects.toThrow(
    /in a format that the installed git does not know: .*future/,
  )
})

test.runIf(knowsReftable)('a repository with a reftable is no project until it is migrated', async () => {
  const { fleet, repo } = await aScene()
  const path = join(repo.root, 'reftable')
  await runGit(repo.root, ['clone', '--quiet', '--template=', '--ref-format=reftable', repo.path, path])
  await expect(fleet.call('create_project', { path })).rejects.toThrow(/keeps its refs as a reftable/)
  await runGit(path, ['refs', 'migrate', '--ref-format=files'])
  expect(await fleet.call('create_project', { path })).toMatchObject({ path })
})
