import * as z from 'zod'
import { Id, Timestamp } from '../domain/ids.ts'
import { lookUp } from '../fleet/records.ts'
import { listWorktrees } from '../fleet/worktrees/worktrees.ts'
import { ProjectRef } from './inputs.ts'
import { query } from './operation.ts'

const ListedWorktree = z.object({
  path: z.string(),
  project_id: z.string(),
  mission_id: Id.nullable(),
  session_id: Id.nullable(),
  title: z.string().nullable(),
  state: z.string().describe('at work, for checks, of no session, or the status of its mission'),
  isolation: z.enum(['private', 'linked']),
  bytes: z.number().describe('of its files'),
  repository_bytes: z.number().describe('of its own repository; objects of the project are not in it'),
  created_at: Timestamp,
})
export type ListedWorktree = z.infer<typeof ListedWorktree>

export const worktrees = [
  query({
    name: 'list_worktrees',
    summary: 'Worktrees on the disk with their sizes, largest first',
    http: 'GET /api/worktrees',
    input: z.object({ project_id: ProjectRef.optional() }),
    output: z.object({ worktrees: z.array(ListedWorktree), bytes: z.number().describe('of all of them') }),
    run: async ({ fleet }, { project_id }) => {
      const project = project_id && (await lookUp(fleet, 'projects', project_id)).value.id
      const worktrees = await listWorktrees(fleet, project || undefined)
      const bytes = worktrees.reduce((sum, each) => sum + each.bytes + each.repository_bytes, 0)
      return { worktrees, bytes }
    },
  }),
]
