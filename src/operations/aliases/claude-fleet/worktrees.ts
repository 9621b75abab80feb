import * as z from 'zod'
import { InvalidInput, NotAllowed } from '../../../domain/errors.ts'
import type { Project } from '../../../domain/records/project.ts'
import { type Asker, type Route, route } from './route.ts'
import { tasksIn } from './tasks.ts'
import { type Member, requireSelf, type Team, workerFor } from './who.ts'
import type { Checkpoint, Task } from './words.ts'

const Name = z.string().min(1).max(50)
const WithHandle = z.object({ handle: Name })

/** The worktree of a worker, and the work that it has handed in. */
export const WORKTREE_ROUTES: readonly Route[] = [
  route(
    'POST /orchestrate/worktree/:handle/commit',
    WithHandle.extend({ message: z.string().min(1).max(1000) }),
    async (asker, { handle, message }) => {
      const { team } = await workerFor(asker, handle)
      requireSelf(asker.caller, team, 'handle', handle)
      const { commit, no_commit } = await asker.ask<Checkpoint>('checkpoint_create', {
        ...{ goal: message, now: message },
      })
      if (commit === null) throw new NotAllowed(no_commit ?? 'There is no worktree to commit.')
      return { success: true, commitHash: commit, handle }
    },
  ),
  route('POST /orchestrate/worktree/:handle/push', WithHandle, async (asker, { handle }) => {
    const { team, member } = await workerFor(asker, handle)
    const { id, candidate } = await handedIn(asker, team, member)
    const { pushed } = await asker.ask<Pushed>('push_mission', { mission_id: id, expected: candidate })
    return { success: true, handle: member.handle, branch: pushed?.branch ?? null, commit: pushed?.commit ?? candidate }
  }),
  route(
    'POST /orchestrate/worktree/:handle/pr',
    WithHandle.extend({
      title: z.string().min(1).max(200),
      body: z.string().min(1).max(10_000),
      base: z.string().max(100).optional(),
    }),
    async (asker, { handle, title, body, base }) => {
      const { team, member } = await workerFor(asker, handle)
      const { id, candidate } = await handedIn(asker, team, member)
      if (base !== undefined) await requireBase(asker, team, base)
      const wanted = { mission_id: id, expected: candidate, title, body }
      const { pull_request } = await asker.ask<Pushed>('open_pull_request', wanted)
      return { success: true, prUrl: pull_request?.url ?? null, handle: member.handle, taskId: id }
    },
  ),
  route('GET /orchestrate/worktree/:handle/status', WithHandle, async (asker, { handle }) => {
    const { member } = await workerFor(asker, handle)
    return { ...(await standing(asker, member)), handle: member.handle }
  }),
]

interface Pushed {
  pushed: { branch: string; commit: string } | null
  pull_request: { url: string | null } | null
}

/** Its newest work that has not landed: what a person reviews, and nothing that is still in a worktree. */
async function handedIn(asker: Asker, team: Team, { id, handle }: Member): Promise<{ id: string; candidate: string }> {
  const isOpen = ({ status, assignee, candidate, landed }: Task): boolean =>
    candidate !== null && landed === null && status !== 'cancelled' && assignee?.member_id === id
  const task = (await tasksIn(asker, team)).find(isOpen)
  if (!task)
    throw new NotAllowed(`${handle} has handed in no work that waits.`, {
      try: `GET /teams/${team.name}/tasks shows its tasks.`,
    })
  return { id: task.id, candidate: task.candidate! }
}

async function requireBase({ ask }: Asker, { project_id }: Team, base: string): Promise<void> {
  const { base_branch } = await ask<Project>('get_project', { project_id })
  if (base !== base_branch)
    throw new InvalidInput('base', `is ${base}, and work of this team goes to ${base_branch}`, {
      try: 'Leave it out.',
    })
}

async function standing({ ask }: Asker, { session_id }: Member) {
  if (session_id === null) return { exists: false, branch: null, hasChanges: false, changedFiles: 0 }
  const session = await ask<{ branch: string | null; worktree_kept: boolean }>('get_session', { session_id })
  if (!session.worktree_kept) return { exists: false, branch: session.branch, hasChanges: false, changedFiles: 0 }
  const diff = { session_id, text: false }
  const { files, files_omitted } = await ask<{ files: unknown[]; files_omitted: number }>('diff_session', diff)
  const changedFiles = files.length + files_omitted
  return { exists: true, branch: session.branch, hasChanges: changedFiles > 0, changedFiles }
}
