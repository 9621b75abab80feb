import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { effect } from '../../platform/effects.ts'
import { type Checkout, gitDirOf, type Repository, readRef, readText } from '../layout.ts'
import { freeLocks } from '../locks.ts'
import { readPlainFile } from '../plain-files.ts'
import { git } from '../run.ts'
import { dropRecords, recordsOf } from '../worktrees.ts'
import { writes } from '../writes/index.ts'
import { type Given, giveRefs } from './giving.ts'
import { makeOurs, recordOf } from './making.ts'
import { linkTo, ourEnvironment, type Place, partsOf, placeAt, writeRecord } from './place.ts'
import { sealRepository } from './sealing.ts'
import { copyIndex, copySharedIndex, replaceFile } from './writing.ts'

/** The parts of a linked worktree's record that say where it belongs. A place has its own. */
const NOT_MOVED = ['commondir', 'gitdir', 'locked', 'config.worktree', 'refs', 'modules']

/**
 * Turns one of our linked worktrees into a place without moving it, because clients know conversations by their folder.
 * HEAD, index, operations under way and all files stay; the record in the person's repository is removed. The place is
 * complete before the worktree's link switches to it in one step. If this is interrupted anywhere, the next call
 * repeats or finishes it.
 */
export async function convertLinked(repo: Repository, path: string, branch: string, given: Given): Promise<boolean> {
  const [linked] = await recordsOf(repo, path)
  if (!linked) return false
  const leadsThere = (await gitDirOf(path))?.gitDir === linked.gitDir
  const found = placeAt(path)
  if (!found && !(leadsThere && (await copyLinked(repo, linked, branch, given)))) return false
  await effect('git.worktree-add', async () => {
    if (leadsThere) replaceFile(join(path, '.git'), linkTo(await realpath(partsOf(path).folder)))
    await dropRecords([linked])
  })
  return true
}

async function copyLinked(
  repo: Repository,
  { path, gitDir }: Checkout,
  branch: string,
  given: Given,
): Promise<boolean> {
  const head = (await readText(join(gitDir, 'HEAD')))?.trim()
  const tip = (await readRef(repo, `refs/heads/${branch}`)) ?? ''
  if (!head || !tip || existsSync(join(gitDir, 'modules'))) return false
  await freeLocks(path, branch)
  const parts = partsOf(path)
  const place: Place = { ...parts, record: recordOf(repo, path, branch, given) }
  await effect('git.worktree-add', async () => {
    rmSync(parts.folder, { recursive: true, force: true })
    mkdirSync(parts.git, { recursive: true, mode: 0o700 })
    for (const name of readdirSync(gitDir))
      if (!NOT_MOVED.includes(name))
        cpSync(join(gitDir, name), join(parts.git, name), { recursive: true, preserveTimestamps: true })
    await makeOurs(place, tip)
    copyIndex(join(gitDir, 'index'), join(parts.ours, 'index'))
    copySharedIndex(readPlainFile(join(gitDir, 'index')), gitDir, parts.ours)
    copyIndex(join(gitDir, 'index'), join(parts.git, 'index'))
    // What is staged belongs to the session. Our index has what is committed.
    await git(path, ['reset', '--quiet', '--mixed', tip], { env: ourEnvironment(place) })
    await sealRepository(place, { walled: given.within !== undefined })
    await writes().branch(parts.git, branch, tip)
    await giveRefs(place, repo, { start: tip })
    writeRecord(parts.folder, place.record)
  })
  return true
}
