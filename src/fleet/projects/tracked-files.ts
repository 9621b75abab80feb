import type { Project } from '../../domain/records/project.ts'
import { fuzzyFind } from '../../domain/rules/fuzzy.ts'
import { branchTip, trackedFiles } from '../../git/index.ts'
import { repositoryOf } from './repositories.ts'

/** The files of the last commits that somebody searched: a person types letter by letter. */
const listed = new Map<string, readonly string[]>()
const MOST_LISTED = 4

/** Files on the base branch of a project whose path matches, best first. */
export async function suggestFiles(project: Project, wanted: string, limit: number): Promise<string[]> {
  if (project.worktree !== 'git') return []
  const repository = await repositoryOf(project)
  const tip = await branchTip(repository, project.base_branch)
  if (!tip) return []
  const files = listed.get(tip) ?? (await trackedFiles(repository, tip))
  listed.delete(tip)
  listed.set(tip, files)
  const [oldest] = listed.keys()
  if (listed.size > MOST_LISTED) listed.delete(oldest!)
  return fuzzyFind(wanted, files, limit)
}
