import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { effect } from '../effects.ts'
import { asSomeone } from './commits.ts'
import { git } from './run.ts'

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
