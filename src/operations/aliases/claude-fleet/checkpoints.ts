import * as z from 'zod'
import { NotFound } from '../../../domain/errors.ts'
import { type Asker, type Route, route } from './route.ts'
import { requireSelf, teamFor } from './who.ts'
import { type Checkpoint, checkpointOf } from './words.ts'

const Name = z.string().min(1).max(50)
const Id = z.string().min(1).max(120)
const Lines = z.array(z.string().min(1).max(500)).max(20).optional()
const OURS = { pending: 'open', accepted: 'accepted', rejected: 'rejected' } as const

export const CHECKPOINT_ROUTES: readonly Route[] = [
  route(
    'POST /checkpoints',
    z.object({
      fromHandle: Name,
      toHandle: Name,
      goal: z.string().min(1).max(1000),
      now: z.string().min(1).max(1000),
      test: z.string().max(500).optional(),
      doneThisSession: z
        .array(z.object({ task: z.string().max(500), files: z.array(z.string().max(500)).max(50) }))
        .max(50)
        .optional(),
      blockers: Lines,
      questions: Lines,
      next: Lines,
    }),
    async (asker, { fromHandle, toHandle, doneThisSession, ...standing }) => {
      const team = await teamFor(asker)
      requireSelf(asker.caller, team, 'fromHandle', fromHandle)
      const done = doneThisSession && { done_this_session: doneThisSession }
      const wanted = { team_id: team.id, to_handle: toHandle, ...standing, ...done }
      return checkpointOf(await asker.ask<Checkpoint>('checkpoint_create', wanted))
    },
  ),
  route('GET /checkpoints/:id', z.object({ id: Id }), async ({ ask }, { id }) =>
    checkpointOf(await ask<Checkpoint>('get_checkpoint', { checkpoint_id: id })),
  ),
  route('GET /checkpoints/latest/:handle', z.object({ handle: Name }), async (asker, { handle }) => {
    const [newest] = await listed(asker, { to_handle: handle, limit: 1 })
    if (!newest) throw new NotFound('checkpoint for', handle)
    return checkpointOf(newest)
  }),
  route(
    'GET /checkpoints/list/:handle',
    z.object({
      handle: Name,
      status: z.enum(['pending', 'accepted', 'rejected']).optional(),
      limit: z.number().int().min(1).max(100).default(50),
    }),
    async (asker, { handle, status, limit }) =>
      (await listed(asker, { to_handle: handle, limit, ...(status && { state: OURS[status] }) })).map(checkpointOf),
  ),
  ...(['accept', 'reject'] as const).map(act =>
    route(
      `POST /checkpoints/:id/${act}`,
      z.object({ id: Id, outcome: z.string().min(1).max(4000).optional() }),
      async ({ ask }, { id, outcome = act === 'reject' ? 'No reason was given.' : undefined }) => {
        const done = await ask<Checkpoint>(`checkpoint_${act}`, { checkpoint_id: id, ...(outcome && { outcome }) })
        return { success: true, id: done.id }
      },
    ),
  ),
]

async function listed(asker: Asker, wanted: object): Promise<Checkpoint[]> {
  const { id: team_id } = await teamFor(asker)
  return (await asker.ask<{ checkpoints: Checkpoint[] }>('checkpoint_list', { team_id, ...wanted })).checkpoints
}
