import type { Project } from '../../domain/records/project.ts'
import { branchTip, commitsWith, linesWith, pathsWith } from '../../git/index.ts'
import type { Fleet } from '../fleet.ts'
import { MISSION_TRAILER } from '../landing/trailers.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { all, lookUp, readable } from '../records.ts'

/** For all projects together. */
const WITHIN_MS = 5000
const MOST_PROJECTS = 50

export interface RepositoryHit {
  project_id: string
  /** A line of a file, a file by its path, or a commit by its message. */
  kind: 'line' | 'path' | 'commit'
  path: string | null
  line: number | null
  commit: string
  /** The line, or the subject of the commit. */
  text: string
  author: string | null
  at: string | null
  /** The mission that landed the commit, if it still exists. */
  mission_id: string | null
}

export interface RepositorySearch {
  text: string
  of: 'files' | 'commits'
  project_id?: string
  limit: number
}

/** Looks in the base branch of projects, with git, for as long as one answer may take. */
export async function searchRepositories(
  fleet: Fleet,
  { project_id, limit, ...wanted }: RepositorySearch,
): Promise<{ hits: RepositoryHit[]; more: boolean; unread: string[] }> {
  const until = performance.now() + WITHIN_MS
  const hits: RepositoryHit[] = []
  const unread: string[] = []
  let more = false
  for (const project of await projectsOf(fleet, project_id)) {
    const withinMs = Math.round(until - performance.now())
    if (hits.length >= limit || withinMs <= 0) return { hits, more: true, unread }
    try {
      const found = await inProject(fleet, project, { ...wanted, limit: limit - hits.length, withinMs })
      hits.push(...found.hits)
      more ||= found.more
    } catch {
      // Its folder may be gone. The others are searched all the same, and the answer says which one was not.
      unread.push(project.id)
    }
  }
  return { hits, more, unread }
}

async function projectsOf(fleet: Fleet, ref: string | undefined): Promise<Project[]> {
  if (ref !== undefined) return [(await lookUp(fleet, 'projects', ref)).value]
  const projects: Project[] = []
  for await (const { value } of all(fleet, 'projects', 'created'))
    if (!value.deleting && projects.length < MOST_PROJECTS) projects.push(value)
  return projects
}

async function inProject(
  fleet: Fleet,
  project: Project,
  { text, of, limit, withinMs }: Omit<RepositorySearch, 'project_id'> & { withinMs: number },
): Promise<{ hits: RepositoryHit[]; more: boolean }> {
  if (project.worktree === 'none') return { hits: [], more: false }
  const repository = await repositoryOf(project)
  const tip = await branchTip(repository, project.base_branch)
  if (!tip) return { hits: [], more: false }
  const at = { project_id: project.id, commit: tip, path: null, line: null, author: null, at: null, mission_id: null }
  const looking = { text, limit, withinMs }
  if (of === 'commits') {
    const { found, more } = await commitsWith(repository, tip, { ...looking, trailer: MISSION_TRAILER })
    const hits = found.map(async ({ subject, trailer, ...commit }) => {
      const mission = trailer ? (await readable(fleet, 'missions', trailer))?.value : undefined
      return { ...at, ...commit, kind: 'commit' as const, text: subject, mission_id: mission?.id ?? null }
    })
    return { hits: await Promise.all(hits), more }
  }
  const [paths, lines] = await Promise.all([
    pathsWith(repository, tip, { ...looking, limit: Math.ceil(limit / 3) }),
    linesWith(repository, tip, looking),
  ])
  const hits = [
    ...paths.found.map(path => ({ ...at, kind: 'path' as const, path, text: '' })),
    ...lines.found.map(each => ({ ...at, kind: 'line' as const, ...each })),
  ]
  return { hits: hits.slice(0, limit), more: paths.more || lines.more || hits.length > limit }
}
