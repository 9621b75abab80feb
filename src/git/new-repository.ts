import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { effect } from '../platform/effects.ts'
import { asSomeone } from './commits.ts'
import { git, gitText } from './run.ts'

/** Makes a repository with one empty commit. It appears whole; one that exists already stays as it is. */
export async function makeRepository(path: string): Promise<void> {
  await effect('git.init', async () => {
    if (existsSync(path)) return
    const unfinished = `${path}.unfinished`
    await rm(unfinished, { recursive: true, force: true })
    await mkdir(unfinished, { recursive: true })
    // A newer git may choose another format, but Flotilla needs refs in files.
    const env = { GIT_DEFAULT_REF_FORMAT: 'files' }
    await git(unfinished, ['init', '--quiet', '--initial-branch=main'], { env })
    await asSomeone(unfinished, ['commit', '--quiet', '--allow-empty', '--no-verify', '-m', 'Begin'], {})
    await rename(unfinished, path)
  })
}

/** Removes a repository that was made here, unless somebody has put something into it. Answers whether it is gone. */
export async function removeUntouched(path: string): Promise<boolean> {
  if (!(await isUntouched(path))) return false
  // It is moved first, so that late files are noticed and nobody finds half of it.
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
