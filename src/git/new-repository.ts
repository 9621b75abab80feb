import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { effect } from '../platform/effects.ts'
import { asSomeone } from './commits.ts'
import { git, gitText } from './run.ts'

/** Makes a repository with one empty commit. It comes into its place whole; one that is there already stays as it is. */
export async function makeRepository(path: string): Promise<void> {
  await effect('git.init', async () => {
    if (existsSync(path)) return
    const unfinished = `${path}.unfinished`
    await rm(unfinished, { recursive: true, force: true })
    await mkdir(unfinished, { recursive: true })
    await git(unfinished, ['init', '--quiet', '--initial-branch=main'])
    await asSomeone(unfinished, ['commit', '--quiet', '--allow-empty', '--no-verify', '-m', 'Begin'], {})
    await rename(unfinished, path)
  })
}

/** Takes a repository that was made here away again, unless somebody has put something into it. Whether it is gone. */
export async function removeUntouched(path: string): Promise<boolean> {
  if (!(await isUntouched(path))) return false
  // Moved first: what comes into it in this moment is seen, and nobody finds half of it.
  const unwanted = `${path}.unfinished`
  await rename(path, unwanted)
  if (await isUntouched(unwanted)) {
    await effect('files.forget', () => rm(unwanted, { recursive: true, force: true }))
    return true
  }
  await rename(unwanted, path)
  return false
}

async function isUntouched(path: string): Promise<boolean> {
  const [commits, changed, remotes] = await Promise.all([
    gitText(path, ['rev-list', '--all', '--count']),
    gitText(path, ['status', '--porcelain', '--ignored']),
    gitText(path, ['remote']),
  ])
  return commits.trim() === '1' && !changed.trim() && !remotes.trim()
}
