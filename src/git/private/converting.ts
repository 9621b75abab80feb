import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { effect } from '../../platform/effects.ts'
import { type Checkout, gitDirOf, type Repository, readRef, readText } from '../layout.ts'
import { freeLocks } from '../locks.ts'
import { readPlainFile } from '../plain-files.ts'
import { git } from '../run.ts'
import { dropRecords, recordsOf } from '../worktrees.ts'
import { type Given, giveRefs } from './giving.ts'
import { copyOurs, recordOf } from './making.ts'
import { linkTo, ourEnvironment, type Place, partsOf, placeAt, writeRecord } from './place.ts'
import { sealRepository } from './sealing.ts'
import { copyIndex, copySharedIndex, replaceFile } from './writing.ts'

/** Of a linked worktree's record, what says where it belongs: a place has its own. */
const NOT_MOVED = ['commondir', 'gitdir', 'locked', 'config.worktree', 'refs', 'modules']

/**
 * Makes a place of a linked worktree of ours, where it is: clients know conversations by their folder. HEAD, index, what
 * is under way and every file stay; the record in the person's repository goes. The place is whole before the worktree's
 * link leads to it, at one stroke; cut short anywhere, it is done again or finished by the next call.
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
    for (const folder of [parts.ours, parts.git]) mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const name of readdirSync(gitDir))
      if (!NOT_MOVED.includes(name))
        cpSync(join(gitDir, name), join(parts.git, name), { recursive: true, preserveTimestamps: true })
    writeFileSync(join(parts.ours, 'HEAD'), `${tip}\n`)
    copyOurs(place)
    copyIndex(join(gitDir, 'index'), join(parts.ours, 'index'))
    copySharedIndex(readPlainFile(join(gitDir, 'index')), gitDir, parts.ours)
    copyIndex(join(gitDir, 'index'), join(parts.git, 'index'))
    // What is staged belongs to the session; ours holds what is committed.
    await git(path, ['reset', '--quiet', '--mixed', tip], { env: ourEnvironment(place) })
    await sealRepository(place, { walled: given.within !== undefined })
    replaceFile(join(parts.git, 'refs/heads', branch), `${tip}\n`)
    await giveRefs(place, repo, { start: tip })
    writeRecord(parts.folder, place.record)
  })
  return true
}
