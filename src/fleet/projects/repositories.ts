import type { Project } from '../../domain/records/project.ts'
import { openRepository, type Repository, requireFileRefs } from '../../git/index.ts'

const opened = new Map<string, Repository>()

/** The repository of a project. Only its location is cached. */
export async function repositoryOf(project: Project): Promise<Repository> {
  const known = opened.get(project.path)
  if (known) {
    // Somebody may have changed its ref format since.
    requireFileRefs(known)
    return known
  }
  const repository = await openRepository(project.path)
  opened.set(project.path, repository)
  return repository
}
