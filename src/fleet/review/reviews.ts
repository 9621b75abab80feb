import type { Evidence, Mission, Status } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { ChangedFile, Report } from '../../domain/records/report.ts'
import type { Session } from '../../domain/records/session.ts'
import type { Included } from '../../domain/rules/candidate.ts'
import { isGenerated } from '../../domain/rules/file-kinds.ts'
import { type Checked, type Overlap, type Risk, riskOf, type SizedFile } from '../../domain/rules/risk.ts'
import { markedGenerated, type Repository, type Sizes, sizesOf } from '../../git/index.ts'
import { Damaged } from '../../store/index.ts'
import type { Fleet } from '../fleet.ts'
import { includesOf, shownOf } from '../landing/candidates.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { all, current, newestReport } from '../records.ts'

/** At most this much waiting work is ranked, the oldest of it. */
const MOST_WAITING = 500
const MOST_BESIDE = 500
/** How many git processes run at once. */
const AT_ONCE = 8

/** Finished work that stopped on its way to the base branch for a person. */
const STOPPED = ['conflict', 'in_the_way']
export const isToReview = ({ status, status_reason, branch }: Mission): boolean =>
  branch !== null && (status === 'review' || (status === 'needs_input' && STOPPED.includes(status_reason?.code ?? '')))

/** The statuses in which a mission may have unlanded work. */
const UNLANDED: readonly Status[] = ['review', 'landing', 'needs_input', 'waiting', 'queued', 'running']

export interface Review extends Sizes {
  mission: Mission
  includes: Included[]
  session_id: string | null
  checked: Checked
  overlaps: Overlap[]
  comments: number
  risk: Risk
}

/** Work that waits for a person, the riskiest first, then the oldest. */
export async function reviewsOf(fleet: Fleet, projectId?: string): Promise<Review[]> {
  const waiting = (
    await Promise.all(['review', 'needs_input'].map(status => ofStatus(fleet, status, MOST_WAITING, projectId)))
  )
    .flat()
    .filter(isToReview)
  const others = new Beside(fleet)
  const reviews: Review[] = []
  for (let from = 0; from < waiting.length; from += AT_ONCE)
    reviews.push(
      ...(await Promise.all(waiting.slice(from, from + AT_ONCE).map(each => shownReview(fleet, each, others)))).flat(),
    )
  return reviews.toSorted(
    (a, b) => b.risk.score - a.risk.score || (a.mission.updated_at < b.mission.updated_at ? -1 : 1),
  )
}

/** None for a mission whose own records are damaged: it must not hide the work of others. */
async function shownReview(fleet: Fleet, mission: Mission, others: Beside): Promise<Review[]> {
  try {
    return [await reviewOf(fleet, mission, others)]
  } catch (error) {
    if (error instanceof Damaged) return []
    throw error
  }
}

export async function reviewOf(fleet: Fleet, mission: Mission, others = new Beside(fleet)): Promise<Review> {
  const { value: project } = await current(fleet, 'projects', mission.project_id)
  const session = mission.session_id ? (await fleet.store.get('sessions', mission.session_id))?.value : undefined
  const report = await newestReport(fleet, mission.id)
  const [sizes, includes, checked, comments] = await Promise.all([
    // A repository that cannot be read must not hide the work in others.
    sizesOfWork(project, mission).catch(() => toldBy(report)),
    includesOf(fleet, project, mission).catch(() => []),
    checkedOf(fleet, mission, project, session),
    fleet.store.find('comments', { index: 'unsent', equals: [mission.id], limit: 100 }),
  ])
  const overlaps = await others.overlapsWith(mission, pathsOf(sizes.files), includes)
  const risk = riskOf({
    mission,
    includes,
    files: sizes.files,
    filesOmitted: sizes.filesOmitted,
    lines: sizes.added + sizes.deleted,
    checked,
    overlaps,
    untested: report?.what_untested ?? [],
  })
  return {
    ...{ mission, session_id: session?.id ?? null, includes, ...sizes, checked, overlaps, risk },
    comments: comments.items.length,
  }
}

async function ofStatus(fleet: Fleet, status: string, limit: number, project?: string): Promise<Mission[]> {
  const where = project ? { index: 'project_status', equals: [project, status] } : { index: 'status', equals: [status] }
  return (await fleet.store.find('missions', { ...where, limit })).items.map(({ value }) => value)
}

const pathsOf = (files: readonly ChangedFile[]): ReadonlySet<string> =>
  new Set(files.flatMap(({ path, from }) => (from ? [path, from] : [path])))

/** The files of the report, as they were when the session ended. */
const toldBy = (report: Report | undefined): Sizes => ({
  files: (report?.files_changed ?? []).map(file => ({ ...file, added: 0, deleted: 0 })),
  filesOmitted: report?.files_omitted ?? 0,
  added: 0,
  deleted: 0,
})

const NOTHING: Sizes = { files: [], filesOmitted: 0, added: 0, deleted: 0 }
/** The difference between two commits never changes, so it is computed once. */
const known = new Map<string, Promise<Sizes>>()
const MOST_KNOWN = 1000

async function sizesOfWork(project: Project, mission: Mission): Promise<Sizes> {
  const shown = await shownOf(project, mission)
  if (!shown) return NOTHING
  const { from, to } = shown
  const key = `${from} ${to}`
  const asked = known.get(key) ?? repositoryOf(project).then(repository => sizesWithKinds(repository, from, to))
  known.set(key, asked)
  if (known.size > MOST_KNOWN) known.delete(known.keys().next().value!)
  asked.catch(() => known.delete(key))
  return asked
}

/** The sizes, with the files marked that a program writes. */
async function sizesWithKinds(
  repository: Repository,
  from: string,
  to: string,
): Promise<Sizes & { files: SizedFile[] }> {
  const sizes = await sizesOf(repository, from, to)
  const paths = sizes.files.map(({ path }) => path)
  const marks = await markedGenerated(repository, to, paths)
  const files = sizes.files.map(file =>
    (marks.get(file.path) ?? isGenerated(file.path)) ? { ...file, generated: true as const } : file,
  )
  return { ...sizes, files }
}

/** The newest result of each check since the work was finished. */
async function checkedOf(
  fleet: Fleet,
  mission: Mission,
  project: Project,
  session: Session | undefined,
): Promise<Checked> {
  const latest = new Map<string, Evidence>()
  if (project.checks.length)
    for await (const { value } of all(fleet, 'evidence', 'mission', [mission.id]))
      if (value.purpose === 'landing' && value.created_at >= (session?.ended_at ?? '')) latest.set(value.name, value)
  const names = project.checks.map(({ name }) => name)
  return {
    passed: names.filter(name => latest.get(name)?.passed === true),
    failed: names.filter(name => latest.get(name)?.passed === false),
    missing: names.filter(name => !latest.has(name)),
  }
}

interface Other {
  mission: Pick<Mission, 'id' | 'title' | 'status'>
  paths: ReadonlySet<string>
}

/** The unlanded work of each project according to the newest reports, read once for a whole list. */
class Beside {
  readonly #fleet: Fleet
  readonly #projects = new Map<string, Promise<Other[]>>()

  constructor(fleet: Fleet) {
    this.#fleet = fleet
  }

  /** Work that is part of the candidate is not other work beside it. */
  async overlapsWith(mission: Mission, own: ReadonlySet<string>, part: readonly Included[]): Promise<Overlap[]> {
    const others = own.size ? await this.#of(mission.project_id) : []
    const inside = new Set([mission.id, ...part.map(({ mission_id }) => mission_id)])
    return others.flatMap(({ mission: { id, title, status }, paths }) => {
      const files = inside.has(id) ? [] : [...paths].filter(path => own.has(path))
      return files.length ? [{ mission_id: id, title, status, files }] : []
    })
  }

  #of(projectId: string): Promise<Other[]> {
    const found = this.#projects.get(projectId) ?? this.#read(projectId)
    this.#projects.set(projectId, found)
    return found
  }

  async #read(projectId: string): Promise<Other[]> {
    const lists = await Promise.all(UNLANDED.map(status => ofStatus(this.#fleet, status, MOST_BESIDE, projectId)))
    const others = await Promise.all(
      lists.flat().map(async mission => {
        const report = mission.session_id ? await newestReport(this.#fleet, mission.id) : undefined
        return { mission, paths: pathsOf(report?.files_changed ?? []) }
      }),
    )
    return others.filter(({ paths }) => paths.size)
  }
}
