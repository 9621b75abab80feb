import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { git, type Within } from '../run.ts'
import { copyOurs, tipOf } from './making.ts'
import type { Place } from './place.ts'
import { fileEnvironment } from './programs.ts'
import { takeIn } from './taking-in.ts'
import { copyIndex } from './writing.ts'

type Environment = Record<string, string>

/** A copy of our index, for whoever only looks at a worktree in which somebody is at work. */
export async function withOurIndex<T>(
  place: Place,
  within: Within | undefined,
  run: (env: Environment) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(place.folder, 'looking-'))
  try {
    const index = join(folder, 'index')
    copyIndex(join(place.ours, 'index'), index)
    return await run(await fileEnvironment(place, { within, index }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * A git directory of the moment over a worktree in which somebody is at work. It stands on the agent's own HEAD where
 * that commit can be taken in, and on the last commit that we know otherwise.
 */
export async function withLiveGit<T>(
  place: Place,
  within: Within | undefined,
  run: (live: { env: Environment; tip: string }) => Promise<T>,
): Promise<T> {
  const known = tipOf(place)
  const tip = (await takeIn(place)).tip ?? known
  const gitDir = mkdtempSync(join(place.folder, 'looking-'))
  try {
    writeFileSync(join(gitDir, 'HEAD'), `${tip}\n`)
    copyOurs({ ...place, ours: gitDir })
    copyIndex(join(place.ours, 'index'), join(gitDir, 'index'))
    const env = await fileEnvironment(place, { within, gitDir })
    if (tip !== known) await git(place.worktree, ['read-tree', '-i', '-m', known, tip], { env })
    return await run({ env, tip })
  } finally {
    rmSync(gitDir, { recursive: true, force: true })
  }
}
