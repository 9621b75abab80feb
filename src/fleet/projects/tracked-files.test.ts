import { expect, onTestFinished, test } from 'vitest'
import { aProject } from '../../domain/samples.testkit.ts'
import { aRepository } from '../../git/testkit.ts'
import { suggestFiles } from './tracked-files.ts'

test('files on the base branch are found by some of their letters, as it is now', async () => {
  const repo = await aRepository({ files: { 'src/Kö nig.ts': 'x', 'src/king.ts': 'x', 'a.md': 'x' } })
  onTestFinished(repo.remove)
  const project = aProject({ path: repo.path, base_branch: 'main' })
  expect(await suggestFiles(project, 'king', 5)).toEqual(['src/king.ts'])
  expect(await suggestFiles(project, 'könig', 5)).toEqual(['src/Kö nig.ts'])
  await repo.write('untracked-king.ts', 'x')
  await repo.git('rm', '-q', 'src/king.ts')
  await repo.git('add', 'src')
  await repo.commit('another', { 'kingdom.ts': 'x' })
  expect(await suggestFiles(project, 'king', 5)).toContain('kingdom.ts')
  expect(await suggestFiles(project, '', 1)).toEqual(['a.md'])
  expect(await suggestFiles(aProject({ path: repo.path, worktree: 'none' }), 'king', 5)).toEqual([])
})
