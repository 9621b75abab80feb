import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { git, type Within } from '../run.ts'
import { makeOurs } from './making.ts'
import { type Place, tipOf } from './place.ts'
import { fileEnvironment } from './programs.ts'
import { takeIn } from './taking-in.ts'
import { copyIndex } from './writing.ts'

type Environment = Record<string, string>

/** A copy of our index, to look at a worktree while somebody works there. */
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
 * A temporary git directory over a worktree while somebody works there. It is at the agent's HEAD if that commit can be
 * taken in, otherwise at the last commit we know.
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
    await makeOurs({ ...place, ours: gitDir }, tip)
    copyIndex(join(place.ours, 'index'), join(gitDir, 'index'))
    const env = await fileEnvironment(place, { within, gitDir })
    if (tip !== known) await git(place.worktree, ['read-tree', '-i', '-m', known, tip], { env })
    return await run({ env, tip })
  } finally {
    rmSync(gitDir, { recursive: true, force: true })
  }
}
