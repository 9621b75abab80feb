import type { Project } from '../../domain/records/project.ts'
import { openRepository, type Repository } from '../../git/index.ts'

const opened = new Map<string, Repository>()

/** The repository of a project. What is kept is only where it lies, so it is asked for once. */
export async function repositoryOf(project: Project): Promise<Repository> {
  const known = opened.get(project.path)
  if (known) return known
  const repository = await openRepository(project.path)
  opened.set(project.path, repository)
  return repository
}
