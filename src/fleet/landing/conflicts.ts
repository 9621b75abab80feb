import { NotAllowed } from '../../domain/errors.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Session } from '../../domain/records/session.ts'
import { conflictRegions, type Region } from '../../domain/rules/conflict-regions.ts'
import { clipped } from '../../domain/text.ts'
import { branchTip, type Conflict, type Logged, logOf, mergeTrees, type Repository, textOf } from '../../git/index.ts'
import type { Fleet } from '../fleet.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { current, sessionsOf } from '../records.ts'
import { MISSION_TRAILER } from './trailers.ts'

const MOST_FILES = 50
const MOST_REGIONS = 20
const MOST_COMMITS = 5
const SIDE_CHARS = 4000
const AT_ONCE = 4

export interface Landed extends Logged {
  /** The mission that brought it, if one did. */
  mission_id: string | null
  title: string | null
}

export interface ConflictedFile extends Conflict {
  regions: Region[]
  regionsOmitted: number
  /** Landings that changed this file since the work started, newest first. */
  landed: Landed[]
}

export interface Standing {
  baseBranch: string
  baseCommit: string
  work: Session
  files: ConflictedFile[]
  filesOmitted: number
  /** The sessions that were sent to resolve it. */
  rounds: Session[]
}

/** Compares the work of a mission with its base branch as both are now. It merges nothing anywhere. */
export async function conflictOf(fleet: Fleet, mission: Mission): Promise<Standing> {
  const sessions = (await sessionsOf(fleet, mission.id)).map(({ value }) => value)
  const work = sessions.findLast(({ end_commit }) => end_commit !== null)
  if (!work?.end_commit)
    throw new NotAllowed(`Mission ${mission.id} has no finished work yet, so nothing can be in conflict with it.`, {
      try: `fleet mission show ${mission.id}`,
    })
  const { value: project } = await current(fleet, 'projects', mission.project_id)
  const repository = await repositoryOf(project)
  const base = await branchTip(repository, project.base_branch)
  if (!base)
    throw new NotAllowed(`The base branch ${project.base_branch} is gone.`, {
      try: `fleet project set ${project.id} --base <branch>`,
    })
  const merged = await mergeTrees(repository, base, work.end_commit, work.descends_from ?? undefined)
  const conflicts = 'conflicts' in merged ? merged.conflicts : []
  const files: ConflictedFile[] = []
  const shown = conflicts.slice(0, MOST_FILES)
  for (let from = 0; from < shown.length; from += AT_ONCE) {
    const some = shown.slice(from, from + AT_ONCE)
    const range = `${work.end_commit}..${base}`
    files.push(...(await Promise.all(some.map(each => conflictedFile(fleet, repository, each, merged.tree, range)))))
  }
  return {
    baseBranch: project.base_branch,
    baseCommit: base,
    work,
    files,
    filesOmitted: conflicts.length - shown.length,
    rounds: sessions.filter(({ reason }) => reason === 'conflict'),
  }
}

async function conflictedFile(
  fleet: Fleet,
  repository: Repository,
  conflict: Conflict,
  tree: string,
  range: string,
): Promise<ConflictedFile> {
  const [text, commits] = await Promise.all([
    textOf(repository, tree, conflict.path),
    logOf(repository, { range, path: conflict.path, limit: MOST_COMMITS, trailer: MISSION_TRAILER }),
  ])
  const regions = conflictRegions(text ?? '')
  return {
    ...conflict,
    regions: regions.slice(0, MOST_REGIONS).map(({ line, base, work }) => ({
      line,
      base: clipped(base, SIDE_CHARS),
      work: clipped(work, SIDE_CHARS),
    })),
    regionsOmitted: Math.max(0, regions.length - MOST_REGIONS),
    landed: await Promise.all(
      commits.map(async commit => {
        const mission = commit.trailer && (await fleet.store.get('missions', commit.trailer))?.value
        return { ...commit, mission_id: commit.trailer || null, title: mission ? mission.title : null }
      }),
    ),
  }
}
