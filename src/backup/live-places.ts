import { join } from 'node:path'
import { keepTip, placesIn } from '../git/index.ts'

/**
 * Until a session ends, its commits are only in the home's own repositories. So they are copied into the projects
 * before the home is copied. If one place cannot be read, the others are still copied.
 */
export async function takeInLive(home: string): Promise<void> {
  for (const worktree of placesIn(join(home, 'worktrees'))) await keepTip(worktree).catch(() => undefined)
}
