import * as z from 'zod'
import { InvalidInput, NotFound } from '../../../domain/errors.ts'
import { POST_TYPES } from '../../../domain/records/board.ts'
import { PRIORITIES } from '../../../domain/records/team.ts'
import { type Asker, type Route, route } from './route.ts'
import { ownHandle, requireSelf, type Team, teamFor, teamsFor } from './who.ts'
import { agentsIn, type Post, postOf, type Swarm, swarmOf } from './words.ts'

const Name = z.string().min(1).max(50)
const Ids = z.array(z.string().min(1).max(120)).min(1).max(100)
const SwarmName = z.string().min(1).max(120)
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

export const BOARD_ROUTES: readonly Route[] = [
  route(
    'POST /swarms',
    z.object({
      name: z.string().min(1).max(100),
      description: z.string().max(500).optional(),
      maxAgents: z.number().int().optional(),
    }),
    async (asker, { name, description, maxAgents }) => {
      const team = await teamFor(asker)
      const wanted = {
        team_id: team.id,
        name,
        ...(description && { description }),
        ...(maxAgents && { max_agents: maxAgents }),
      }
      return swarmOf(await asker.ask<Swarm>('swarm_create', wanted))
    },
  ),
  route('GET /swarms', z.object({ includeAgents: z.boolean().default(false) }), async (asker, { includeAgents }) => {
    const lists = (await teamsFor(asker)).map(async team => {
      const swarms = await swarmsOf(asker, team)
      return swarms.map(each => ({ ...swarmOf(each), ...(includeAgents && { agents: agentsIn(each, team) }) }))
    })
    return (await Promise.all(lists)).flat()
  }),
  route('GET /swarms/:id', z.object({ id: SwarmName }), async (asker, { id }) => {
    const { team, swarm } = await swarmFor(asker, id)
    return { ...swarmOf(swarm), agents: agentsIn(swarm, team) }
  }),
  route(
    'POST /swarms/:id/kill',
    z.object({ id: SwarmName, graceful: z.boolean().default(true) }),
    async (asker, { id, graceful }) => {
      if (!graceful)
        throw new InvalidInput('graceful', 'must be true: the record of a swarm is kept, and its work with it')
      const { team, swarm } = await swarmFor(asker, id)
      await asker.ask('swarm_kill', { team_id: team.id, swarm_id: swarm.id })
      return { success: true, swarmId: swarm.id, dismissed: swarm.members }
    },
  ),
  route(
    'POST /blackboard',
    z.object({
      swarmId: SwarmName,
      senderHandle: Name,
      messageType: z.enum(POST_TYPES),
      payload: z.record(z.string(), z.unknown()),
      targetHandle: Name.nullish(),
      priority: z.enum(PRIORITIES).optional(),
    }),
    async (asker, { swarmId, senderHandle, messageType, payload, targetHandle, priority }) => {
      const { team, swarm } = await swarmFor(asker, swarmId)
      requireSelf(asker.caller, team, 'senderHandle', senderHandle)
      const post = await asker.ask<Post>('blackboard_post', {
        ...{ team_id: team.id, swarm_id: swarm.id, message_type: messageType, payload },
        ...(targetHandle && { target_handle: targetHandle }),
        ...(priority && { priority }),
      })
      return postOf(post, senderHandle)
    },
  ),
  route(
    'GET /blackboard/:swarmId',
    z.object({
      swarmId: SwarmName,
      messageType: z.enum(POST_TYPES).optional(),
      unreadOnly: z.boolean().default(false),
      readerHandle: Name.optional(),
      priority: z.enum(PRIORITIES).optional(),
      limit: z.number().int().min(1).max(500).default(100),
    }),
    async (asker, { swarmId, messageType, unreadOnly, readerHandle, priority, limit }) => {
      const { team, swarm } = await swarmFor(asker, swarmId)
      if (readerHandle !== undefined) requireSelf(asker.caller, team, 'readerHandle', readerHandle)
      const { posts } = await asker.ask<{ posts: Post[] }>('blackboard_read', {
        ...{ team_id: team.id, swarm_id: swarm.id, unread_only: unreadOnly, limit },
        ...(messageType && { message_type: messageType }),
        ...(priority && { priority }),
      })
      return posts.map(post => postOf(post, readerHandle ?? ownHandle(asker.caller, team)))
    },
  ),
  route(
    'POST /blackboard/mark-read',
    z.object({ messageIds: Ids, readerHandle: Name }),
    async (asker, { messageIds, readerHandle }) => {
      const team = await teamFor(asker)
      requireSelf(asker.caller, team, 'readerHandle', readerHandle)
      await asker.ask('blackboard_mark_read', { team_id: team.id, post_ids: messageIds })
      return { success: true, marked: messageIds.length }
    },
  ),
  route('POST /blackboard/archive', z.object({ messageIds: Ids }), async (asker, { messageIds }) => {
    const team = await teamFor(asker)
    const done = await asker.ask<{ archived: number }>('blackboard_archive', { team_id: team.id, post_ids: messageIds })
    return { success: true, archived: done.archived }
  }),
  route(
    'POST /blackboard/:swarmId/archive-old',
    z.object({ swarmId: SwarmName, maxAgeMs: z.number().int().positive().default(DAY_MS) }),
    async (asker, { swarmId, maxAgeMs }) => {
      const { team, swarm } = await swarmFor(asker, swarmId)
      const wanted = { team_id: team.id, swarm_id: swarm.id, older_than_hours: maxAgeMs / HOUR_MS }
      const { archived } = await asker.ask<{ archived: number }>('blackboard_archive', wanted)
      return { success: true, archived, swarmId: swarm.id }
    },
  ),
]

const swarmsOf = async ({ ask }: Asker, { id: team_id }: Team): Promise<Swarm[]> =>
  (await ask<{ swarms: Swarm[] }>('swarm_list', { team_id })).swarms

/** A swarm by id or name, in any team that the caller may look at. */
async function swarmFor(asker: Asker, ref: string): Promise<{ team: Team; swarm: Swarm }> {
  for (const team of await teamsFor(asker)) {
    const swarms = await swarmsOf(asker, team)
    const swarm =
      swarms.find(({ id }) => id === ref) ?? swarms.find(({ name }) => name.toLowerCase() === ref.toLowerCase())
    if (swarm) return { team, swarm }
  }
  throw new NotFound('swarm', ref, { try: 'GET /swarms lists all.' })
}
