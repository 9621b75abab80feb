import { join } from 'node:path'
import { keepTip, placesIn } from '../git/index.ts'

/**
 * What agents at work have committed is only in the home's own repositories until their session ends: it is taken into
 * the projects before the home is copied. One place that cannot be read costs no other.
 */
export async function takeInLive(home: string): Promise<void> {
  for (const worktree of placesIn(join(home, 'worktrees'))) await keepTip(worktree).catch(() => undefined)
}
