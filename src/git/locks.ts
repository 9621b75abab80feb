import { readdir, readlink, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { NotAllowed } from '../domain/errors.ts'
import { exists, gitDirOf } from './layout.ts'

const HOLDER_GRACE_MS = 10_000
const POLL_MS = 50
/** If open files cannot be listed, a lock this old belongs to no running command. */
const OLD_LOCK_MS = 60_000

/**
 * Removes the locks that a killed git left in one of our worktrees. It waits for a lock that a live process holds, such
 * as a git that outlived its server. Locks shared with the person's checkout are never touched.
 */
export async function freeLocks(worktree: string, branch?: string): Promise<void> {
  const dirs = await gitDirOf(worktree)
  if (!dirs) return
  const locks = ['index.lock', 'HEAD.lock'].map(name => join(dirs.gitDir, name))
  if (branch) locks.push(join(dirs.commonDir, 'refs/heads', `${branch}.lock`))
  for (const lock of locks) if (await exists(lock)) await free(lock, worktree)
}

async function free(lock: string, worktree: string): Promise<void> {
  const deadline = Date.now() + HOLDER_GRACE_MS
  while (await exists(lock)) {
    if (!(await isHeld(lock, worktree))) return rm(lock, { force: true })
    if (Date.now() > deadline)
      throw new NotAllowed(`Another git command is at work in ${worktree}.`, {
        try: 'Let it finish and try again.',
        facts: { lock },
      })
    await pause(POLL_MS)
  }
}

/** Git may close a lock file it still owns, so any git that runs in the worktree counts as its owner. */
async function isHeld(lock: string, worktree: string): Promise<boolean> {
  const pids = await readdir('/proc').then(
    names => names.filter(name => /^\d+$/.test(name)),
    () => [],
  )
  if (!pids.length) return Date.now() - (await stat(lock)).mtimeMs < OLD_LOCK_MS
  for (const pid of pids) {
    const [program, cwd] = await Promise.all([link(`/proc/${pid}/exe`), link(`/proc/${pid}/cwd`)])
    const inside = cwd === worktree || cwd?.startsWith(`${worktree}/`)
    if (inside && program && /\/git[^/]*$/.test(program)) return true
    const files = await readdir(`/proc/${pid}/fd`).catch(() => [])
    for (const fd of files) if ((await link(`/proc/${pid}/fd/${fd}`)) === lock) return true
  }
  return false
}

const link = (path: string): Promise<string | undefined> => readlink(path).catch(() => undefined)
