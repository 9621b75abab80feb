import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { effect } from '../../effects.ts'
import { gitDirOf, type Repository, readRef, readText } from '../layout.ts'
import { freeLocks } from '../locks.ts'
import { readPlainFile } from '../plain-files.ts'
import { git } from '../run.ts'
import { type Given, giveRefs } from './giving.ts'
import { copyOurs, recordOf } from './making.ts'
import { linkTo, ourEnvironment, type Place, partsOf, placeAt, writeRecord } from './place.ts'
import { seal } from './sealing.ts'
import { copyIndex, copySharedIndex, replaceFile } from './writing.ts'

/** Of a linked worktree's record, what says where it belongs: a place has its own. */
const NOT_MOVED = ['commondir', 'gitdir', 'locked', 'config.worktree', 'refs', 'modules']

/**
 * Makes a place of a linked worktree of ours, where it is: clients know conversations by their folder. HEAD, index, what
 * is under way and every file stay; the record in the person's repository goes.
 */
export async function convertLinked(repo: Repository, path: string, branch: string, given: Given): Promise<boolean> {
  if (placeAt(path)) return false
  const linked = await gitDirOf(path)
  if (!linked || linked.gitDir === linked.commonDir || (await realpath(linked.commonDir)) !== repo.commonDir)
    return false
  const head = (await readText(join(linked.gitDir, 'HEAD')))?.trim()
  const tip = (await readRef(repo, `refs/heads/${branch}`)) ?? ''
  if (!head || !tip || existsSync(join(linked.gitDir, 'modules'))) return false
  await freeLocks(path, branch)
  const parts = partsOf(path)
  const place: Place = { ...parts, record: recordOf(repo, path, branch, given) }
  await effect('git.worktree-add', async () => {
    rmSync(parts.folder, { recursive: true, force: true })
    for (const folder of [parts.ours, parts.git]) mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const name of readdirSync(linked.gitDir))
      if (!NOT_MOVED.includes(name))
        cpSync(join(linked.gitDir, name), join(parts.git, name), { recursive: true, preserveTimestamps: true })
    writeFileSync(join(parts.ours, 'HEAD'), `${tip}\n`)
    copyOurs(place)
    copyIndex(join(linked.gitDir, 'index'), join(parts.ours, 'index'))
    copySharedIndex(readPlainFile(join(linked.gitDir, 'index')), linked.gitDir, parts.ours)
    copyIndex(join(linked.gitDir, 'index'), join(parts.git, 'index'))
    // What is staged belongs to the session; ours holds what is committed.
    await git(path, ['reset', '--quiet', '--mixed', tip], { env: ourEnvironment(place) })
    replaceFile(join(path, '.git'), linkTo(await realpath(parts.folder)))
    await seal(place, { walled: given.within !== undefined })
    replaceFile(join(parts.git, 'refs/heads', branch), `${tip}\n`)
    await giveRefs(place, repo, { start: tip })
    writeRecord(parts.folder, place.record)
    // Git passes over a record without this file, so nobody meets a half-removed one.
    const gone = `${linked.gitDir}.gone`
    rmSync(join(linked.gitDir, 'gitdir'), { force: true })
    renameSync(linked.gitDir, gone)
    rmSync(gone, { recursive: true, force: true })
  })
  return true
}
