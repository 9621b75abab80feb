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
  state: z.string().describe('at work, for checks, warm, of no session, or the status of its mission'),
  isolation: z.enum(['private', 'linked']),
  bytes: z.number().describe('the size of its files'),
  repository_bytes: z.number().describe('the size of its own repository, without the objects of the project'),
  created_at: Timestamp,
})
export type ListedWorktree = z.infer<typeof ListedWorktree>

export const worktrees = [
  query({
    name: 'list_worktrees',
    may: 'missions.read',
    mcp: 'control',
    summary: 'List worktrees on disk with their sizes, largest first',
    http: 'GET /api/worktrees',
    input: z.object({ project_id: ProjectRef.optional() }),
    output: z.object({ worktrees: z.array(ListedWorktree), bytes: z.number().describe('the total size') }),
    run: async ({ fleet }, { project_id }) => {
      const project = project_id && (await lookUp(fleet, 'projects', project_id)).value.id
      const worktrees = await listWorktrees(fleet, project || undefined)
      const bytes = worktrees.reduce((sum, each) => sum + each.bytes + each.repository_bytes, 0)
      return { worktrees, bytes }
    },
  }),
]
