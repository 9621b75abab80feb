import { NotAllowed } from '../../domain/errors.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Session } from '../../domain/records/session.ts'
import { conflictInWords, disputedIn, type Part, type SideState } from '../../domain/rules/conflict-parts.ts'
import { clipped } from '../../domain/text.ts'
import {
  branchTip,
  type Conflict,
  conflictParts,
  type Logged,
  logOf,
  mergeTrees,
  type Repository,
  type TreeFile,
} from '../../git/index.ts'
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

/** One place of a file where two sides could not be merged. */
export interface Region {
  /** Its first line on the base branch. */
  line: number
  base: string
  work: string
  /** One side is too long to be shown whole. */
  cut: boolean
}

export const CHOICES = ['places', 'base', 'work'] as const
export type Choice = (typeof CHOICES)[number]

export interface ConflictedFile extends Pick<Conflict, 'path' | 'kind'> {
  /** What is in conflict, in words. */
  about: string
  sides: { base: SideState; work: SideState }
  /** How it can be resolved without a checkout: place by place, or by one side. */
  choices: Choice[]
  regions: Region[]
  regionsOmitted: number
  /** Landings that changed this file since the work started, newest first. */
  landed: Landed[]
}

export interface Standing {
  baseBranch: string
  baseCommit: string
  /** The commit that is in conflict with it. */
  commit: string
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
      try: `fleet show ${mission.id}`,
    })
  const { value: project } = await current(fleet, 'projects', mission.project_id)
  const repository = await repositoryOf(project)
  const base = await branchTip(repository, project.base_branch)
  if (!base)
    throw new NotAllowed(`The base branch ${project.base_branch} is gone.`, {
      try: `fleet project set ${project.id} --base <branch>`,
    })
  const commit = mission.candidate?.commit ?? work.end_commit
  const merged = await mergeTrees(repository, base, commit)
  const conflicts = 'conflicts' in merged ? merged.conflicts : []
  const files: ConflictedFile[] = []
  const shown = conflicts.slice(0, MOST_FILES)
  for (let from = 0; from < shown.length; from += AT_ONCE) {
    const some = shown.slice(from, from + AT_ONCE)
    const where = { fleet, repository, branch: project.base_branch, range: `${commit}..${base}` }
    files.push(...(await Promise.all(some.map(each => conflictedFile(where, each)))))
  }
  return {
    baseBranch: project.base_branch,
    baseCommit: base,
    commit,
    work,
    files,
    filesOmitted: conflicts.length - shown.length,
    rounds: sessions.filter(({ reason }) => reason === 'conflict'),
  }
}

interface Where {
  fleet: Fleet
  repository: Repository
  branch: string
  /** What landed since the work started. */
  range: string
}

async function conflictedFile(
  { fleet, repository, branch, range }: Where,
  conflict: Conflict,
): Promise<ConflictedFile> {
  const { path, kind } = conflict
  const [parts, commits] = await Promise.all([
    conflictParts(repository, conflict),
    logOf(repository, { range, path, limit: MOST_COMMITS, trailer: MISSION_TRAILER }),
  ])
  const sides = { base: stateOf(conflict.base), work: stateOf(conflict.work) }
  const regions = regionsOf(parts ?? [])
  return {
    ...{ path, kind, sides, choices: choicesFor(conflict, parts) },
    about: conflictInWords({ ...sides, text: parts !== undefined }, branch),
    regions: regions.slice(0, MOST_REGIONS),
    regionsOmitted: Math.max(0, regions.length - MOST_REGIONS),
    landed: await Promise.all(
      commits.map(async commit => {
        const mission = commit.trailer && (await fleet.store.get('missions', commit.trailer))?.value
        return { ...commit, mission_id: commit.trailer || null, title: mission ? mission.title : null }
      }),
    ),
  }
}

/** Git also moves files aside in these, so one file alone does not resolve them. */
const WITH_OTHERS = /director|distinct/

/** How a file in conflict can be resolved without a checkout. */
export function choicesFor(conflict: Conflict, parts: readonly Part[] | undefined): Choice[] {
  if (WITH_OTHERS.test(conflict.kind)) return []
  const count = parts ? disputedIn(parts).length : 0
  return count > 0 && count <= MOST_REGIONS ? [...CHOICES] : ['base', 'work']
}

function stateOf(file: TreeFile | undefined): SideState {
  if (!file) return 'deleted'
  return file.mode === '120000' ? 'link' : file.mode === '160000' ? 'submodule' : 'file'
}

function regionsOf(parts: readonly Part[]): Region[] {
  const regions: Region[] = []
  let line = 1
  for (const part of parts) {
    const onBase = typeof part === 'string' ? part : part.base
    if (typeof part !== 'string') {
      const [base, work] = [shown(part.base), shown(part.work)]
      regions.push({ line, base: base.text, work: work.text, cut: base.cut || work.cut })
    }
    line += onBase.split('\n').length - 1
  }
  return regions
}

/** A side as text, without its last newline. Text that is not UTF-8 counts as cut: it would be written otherwise. */
function shown(bytes: string): { text: string; cut: boolean } {
  const whole = Buffer.from(bytes.replace(/\r?\n$/, ''), 'latin1').toString('utf8')
  const text = clipped(whole, SIDE_CHARS)
  return { text, cut: text !== whole || whole.includes('\ufffd') }
}
