import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { readPlainFile } from '../plain-files.ts'
import { writes } from '../writes/index.ts'
import { copyHooks } from './hooks.ts'
import { sealNested } from './nested.ts'
import { diskSettings } from './own-disk.ts'
import { alternatesOf, linkTo, type Place, projectOf, tipOf } from './place.ts'
import { sessionConfig, settingsOf } from './settings.ts'
import { SPARSE_FILE, sparsePatterns, sparseSettings } from './sparse.ts'
import { sealUnfinished } from './unfinished.ts'
import { copyIndex, remove, replaceFile, requireFolder } from './writing.ts'

const COPIED = ['exclude', 'attributes']
/** Files by which git would take the directory for something else, or for a part of another repository. */
const NEVER_THERE = [
  'commondir',
  'gitdir',
  'config.worktree',
  'locked',
  'worktrees',
  'info',
  'hooks',
  'config',
  'shallow',
]
/**
 * Says that the directory is a whole repository by itself. Without this file the sandbox could not keep another one
 * out.
 */
const COMMONDIR = '.\n'

/**
 * Rewrites everything that makes git run programs, hides files or names other folders, from the project's own
 * settings. It happens before the first session, and after each one before anybody else gets the folder: otherwise a
 * person's git or editor would run what an agent planted. Links and pipes in the git directory go, because a write
 * would follow them. Without `files` the worktree is not searched for other repositories.
 */
export async function seal(place: Place, { walled = false, files = true } = {}): Promise<void> {
  await sealRepository(place, { walled, files })
  await restoreLink(place)
}

/** Does the same without the worktree's link. */
export async function sealRepository(place: Place, { walled = false, files = true } = {}): Promise<void> {
  const repo = projectOf(place)
  const settings = await settingsOf(repo)
  const { git, record } = place
  requireFolder(git)
  plainOnly(git)
  setAside(join(git, 'worktrees'), place.folder)
  for (const name of NEVER_THERE) remove(join(git, name))
  await writes().gitDir(git, tipOf(place))
  writeFileSync(join(git, 'commondir'), COMMONDIR)
  for (const name of ['refs', 'refs/heads', 'refs/tags', 'objects', 'objects/pack', 'hooks', 'info'])
    requireFolder(join(git, name))
  remove(join(git, 'objects/info'))
  mkdirSync(join(git, 'objects/info'))
  writeFileSync(join(git, 'objects/info/alternates'), alternatesOf(place))
  const wanted = {
    ...record,
    walled,
    hooksFolder: join(git, 'hooks'),
    disk: [...diskSettings(place), ...sparseSettings(record)],
    lfs: join(git, 'lfs'),
  }
  writeFileSync(join(git, 'config'), sessionConfig(repo, settings, wanted))
  for (const name of COPIED) {
    const content = readPlainFile(join(record.commonDir, 'info', name))
    if (content) writeFileSync(join(git, 'info', name), content)
  }
  const patterns = sparsePatterns(record)
  if (patterns) writeFileSync(join(git, SPARSE_FILE), patterns)
  const shallow = readPlainFile(join(record.commonDir, 'shallow'))
  if (shallow) writeFileSync(join(git, 'shallow'), shallow)
  if (record.hooks) await copyHooks(repo, settings.hooksPath, join(git, 'hooks'))
  sealUnfinished(git)
  await sealNested(place, { walled, files })
}

async function restoreLink({ worktree, folder }: Place): Promise<void> {
  const link = join(worktree, '.git')
  const wanted = linkTo(await realpath(folder))
  if (readPlainFile(link, { refuseLinks: true })?.toString('utf8') === wanted) return
  if (!lstatSync(worktree, { throwIfNoEntry: false })?.isDirectory()) return
  // A repository that an agent made in its place is kept beside ours: there may be work in it.
  if (lstatSync(link, { throwIfNoEntry: false })) {
    const aside = join(folder, `replaced-${Date.now()}`)
    renameSync(link, aside)
  }
  replaceFile(link, wanted)
}

/** Keeps what an agent's own worktrees had staged and under way with the place. */
function setAside(worktrees: string, folder: string): void {
  const found = lstatSync(worktrees, { throwIfNoEntry: false })
  if (found?.isDirectory() && readdirSync(worktrees).length)
    renameSync(worktrees, join(folder, `replaced-worktrees-${Date.now()}`))
}

/** Nothing but plain files and folders. */
function plainOnly(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) plainOnly(path)
    else if (!entry.isFile()) rmSync(path, { force: true })
  }
}

/** Puts the session's repository on its branch, at this commit, with our index. */
export async function setSession(place: Place, tip: string): Promise<void> {
  const { git, ours, record } = place
  if (record.branch) await writes().branch(git, record.branch, tip)
  await writes().head(git, record.branch ? { branch: record.branch } : { commit: tip })
  for (const name of [
    'MERGE_HEAD',
    'MERGE_MSG',
    'MERGE_MODE',
    'CHERRY_PICK_HEAD',
    'REVERT_HEAD',
    'AUTO_MERGE',
    'index.lock',
    'packed-refs.lock',
    'sequencer',
  ])
    remove(join(git, name))
  copyIndex(join(ours, 'index'), join(git, 'index'))
}
