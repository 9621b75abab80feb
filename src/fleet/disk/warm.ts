import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Fleet } from '../fleet.ts'

interface WarmEntry {
  project_id: string
  path: string
  /** The worktree. */
  tree: string
  /** What else is kept with it, such as its repository. */
  others: string[]
}

/** Every warm worktree, or those of one project. */
export async function warmEntries({ home }: Fleet, projectId?: string): Promise<WarmEntry[]> {
  const entries: WarmEntry[] = []
  for (const project_id of projectId ? [projectId] : await namesIn(home.warm))
    for (const name of await namesIn(join(home.warm, project_id))) {
      const path = join(home.warm, project_id, name)
      const others = (await namesIn(path)).filter(each => each !== TREE).map(each => join(path, each))
      entries.push({ project_id, path, tree: join(path, TREE), others })
    }
  return entries
}

const TREE = 'tree'

const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder)
    .catch(unlessGone)
    .then(names => names ?? [])

function unlessGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
}
