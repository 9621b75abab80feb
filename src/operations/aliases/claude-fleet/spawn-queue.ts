import * as z from 'zod'
import { NotFound } from '../../../domain/errors.ts'
import { PRIORITIES } from '../../../domain/records/team.ts'
import { type Asker, type Route, route } from './route.ts'
import { requireSelf, teamFor } from './who.ts'
import { type Spawn, spawnOf, spawnStatus } from './words.ts'
import { roleNamed } from './workers.ts'

const Name = z.string().min(1).max(50)
const Id = z.string().min(1).max(120)

/** Requests for members of a team. A lead or the policy of the team grants them. */
export const SPAWN_ROUTES: readonly Route[] = [
  route(
    'POST /spawn-queue',
    z.object({
      requesterHandle: Name,
      targetAgentType: z.string().min(1).max(50),
      task: z.string().min(1).max(10_000),
      swarmId: z.string().min(1).max(100).optional(),
      priority: z.enum(PRIORITIES).optional(),
      dependsOn: z.array(Id).max(20).optional(),
    }),
    async (asker, { requesterHandle, targetAgentType, task, swarmId, priority, dependsOn }) => {
      const team = await teamFor(asker)
      requireSelf(asker.caller, team, 'requesterHandle', requesterHandle)
      const made = await asker.ask<Spawn>('spawn_request', {
        ...{ team_id: team.id, agent_type: roleNamed(targetAgentType), task },
        ...(swarmId && { swarm_id: swarmId }),
        ...(priority && { priority }),
        ...(dependsOn && { depends_on: dependsOn }),
      })
      return { requestId: made.id, status: spawnStatus(made), targetAgentType, task }
    },
  ),
  route('GET /spawn-queue/status', z.object({}), async asker => queueIn(asker)),
  route('GET /spawn-queue/:id', z.object({ id: Id }), async ({ ask }, { id }) => {
    const [found] = (await ask<{ requests: Spawn[] }>('spawn_status', { spawn_id: id })).requests
    if (!found) throw new NotFound('request for a member', id)
    return spawnOf(found)
  }),
  route('DELETE /spawn-queue/:id', z.object({ id: Id }), async ({ ask }, { id }) => {
    const gone = await ask<Spawn>('spawn_cancel', { spawn_id: id })
    return { success: true, id: gone.id }
  }),
]

const STATES = ['pending', 'approved', 'spawned', 'rejected'] as const

/** How many requests are in each state, of the newest 200, and how much room the team has. */
export async function queueIn(asker: Asker) {
  const team = await teamFor(asker)
  const wanted = { team_id: team.id, limit: 200 }
  const { requests } = await asker.ask<{ requests: Spawn[] }>('spawn_status', wanted)
  const counts = STATES.map(state => [state, requests.filter(each => spawnStatus(each) === state).length])
  const blocked = requests.filter(({ state, depends_on }) => state === 'waiting' && depends_on.length).length
  const current = team.members.filter(({ person }) => person === null).length
  const hard = team.max_members
  return {
    queue: { ...(Object.fromEntries(counts) as Record<(typeof STATES)[number], number>), blocked },
    limits: { current, soft: hard, hard, remaining: Math.max(0, hard - current) },
  }
}
