import { existsSync } from 'node:fs'
import { constants, cp, mkdir, realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, sep } from 'node:path'
import { InvalidInput, Unfit } from '../../domain/errors.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
import { addPlace, addWorktree, convertLinked, type Given, mergeInto, type Place, placeAt } from '../../git/index.ts'
import { effect } from '../../platform/effects.ts'
import type { Fleet } from '../fleet.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { childrenOf } from '../records.ts'
import { clearOfEarlier } from '../teams/sessions.ts'
import { poolOf } from '../worktrees/pool.ts'
import { inPlace } from '../worktrees/retiring.ts'
import { warmUp } from '../worktrees/warming.ts'
import { gitWithin } from './sandbox.ts'

export interface PreparedFolder {
  /** Where the agent starts. */
  workingDirectory: string
  /** Files left with conflict markers for it to resolve. */
  conflicts: string[]
}

/** Makes the worktree, or finds it as a crashed start left it. It never uses another folder instead. */
export async function prepareFolder(
  fleet: Fleet,
  session: Session,
  mission: Mission,
  project: Project,
): Promise<PreparedFolder> {
  const top = session.worktree ?? project.path
  const conflicts = session.worktree ? await prepareWorktree(fleet, session, mission, project) : []
  const workingDirectory = join(top, mission.subdirectory)
  // Links are followed before the comparison, so that a link out of the worktree is refused.
  const [real, inside] = await Promise.all([realpath(workingDirectory).catch(() => undefined), realpath(top)])
  const isInside = real === inside || real?.startsWith(inside + sep)
  if (!isInside || !(await stat(real!)).isDirectory()) {
    throw new Unfit(`There is no folder ${mission.subdirectory} inside ${top} to start in.`, {
      try: `fleet mission edit ${mission.id} --subdirectory …`,
    })
  }
  return { workingDirectory, conflicts }
}

async function prepareWorktree(fleet: Fleet, session: Session, mission: Mission, project: Project): Promise<string[]> {
  const { id, mission_id, worktree, branch, branch_from, base_tip, reason } = session
  const within = await gitWithin(fleet, session, mission, project)
  const repository = await repositoryOf(project)
  await mkdir(dirname(worktree!), { recursive: true, mode: 0o700 })
  const wanted = { path: worktree!, branch: branch!, from: branch_from! }
  await inPlace(session, async () => {
    if (project.isolation === 'linked' && !placeAt(worktree!)) {
      if (session.member_id) await clearOfEarlier(fleet, session, project)
      return void (await addWorktree(repository, wanted))
    }
    const parts = await childrenOf(fleet, mission_id)
    const named = parts.flatMap(part => (part.result === 'kept' && part.branch ? [refNamed(part.branch)] : []))
    const given = { ...givenTo(project, id), named, within }
    await convertLinked(repository, worktree!, branch!, given)
    if (session.member_id) await clearOfEarlier(fleet, session, project)
    const pool = poolOf(fleet)
    const warm = (place: Place) => warmUp(fleet, project, place)
    try {
      await addPlace(repository, { ...wanted, ...given, sparse: mission.sparse ?? project.sparse, warm })
      await pool.bringCaches(placeAt(worktree!)!, project)
    } finally {
      await pool.dropCaches(worktree!)
    }
  })
  const missing = placeAt(worktree!) && mission.sparse?.find(folder => !existsSync(join(worktree!, folder)))
  if (missing !== undefined && session.number === 1)
    throw new Unfit(`There is no folder ${missing} in the commit that the mission starts from.`, {
      try: `fleet mission edit ${mission.id} --sparse …`,
    })
  await copyFiles(project, worktree!)
  if (reason !== 'conflict') return []
  const merged = await mergeInto(worktree!, base_tip!, within)
  return 'conflicts' in merged ? merged.conflicts : []
}

/** Work that was cleaned up has a ref, other work has a branch. */
const refNamed = (branch: string): string => (branch.startsWith('refs/') ? branch : `refs/heads/${branch}`)

/** What a private repository of a project is given. */
export const givenTo = ({ base_branch, allow_push, hooks, sparse }: Project, session: string): Given => ({
  base: base_branch,
  sparse,
  session,
  allowPush: allow_push,
  hooks: hooks === 'on',
})

/** A link that an agent or the repository put in the way would make the copy overwrite files elsewhere. */
async function requireInside(worktree: string, path: string): Promise<void> {
  const top = await realpath(worktree)
  let folder = dirname(join(top, path))
  while (!existsSync(folder)) folder = dirname(folder)
  if (`${await realpath(folder)}${sep}`.startsWith(top + sep)) return
  throw new Unfit(`${path} could not be copied into the worktree: a link in its path leads out of ${worktree}.`)
}

/** Blocks are shared where the disk can do that. */
const COPY = { recursive: true, force: true, preserveTimestamps: true, mode: constants.COPYFILE_FICLONE }

/** Ignored files of the person's checkout, such as .env, that work in a worktree needs too. */
export async function copyFiles(project: Project, worktree: string): Promise<void> {
  for (const path of project.copy_files) {
    if (isAbsolute(path) || path.split('/').includes('..'))
      throw new InvalidInput('copy_files', `${path} is not inside the repository`)
    await requireInside(worktree, path)
    const copy = () => cp(join(project.path, path), join(worktree, path), COPY)
    await effect('files.copy', copy).catch(cause => {
      if (cause.code !== 'ENOENT')
        throw new Unfit(`${path} could not be copied into the worktree: ${cause.message}`, { cause })
    })
  }
}
