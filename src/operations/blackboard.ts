import * as z from 'zod'
import { Forbidden, InvalidInput } from '../domain/errors.ts'
import { MAX_PAYLOAD_CHARS, POST_TYPES, Post } from '../domain/records/board.ts'
import { PRIORITIES, type Team } from '../domain/records/team.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { lookUp } from '../fleet/records.ts'
import { lookUpMember } from '../fleet/teams/members.ts'
import { archiveOlder, archivePosts, markRead, postToBoard, readBoard } from '../fleet/teamwork/board.ts'
import { lookUpSwarm } from '../fleet/teamwork/swarms.ts'
import { actorOf, ask, Paging, Ref } from './inputs.ts'
import { type Context, command, query } from './operation.ts'
import { knownIn, memberIn, steers, teamOf } from './team-callers.ts'
import { MemberRef, SwarmRef } from './teams.ts'

const TeamRef = Ref.optional().describe('a team; default: your own, or the only one')
const OnBoard = {
  team_id: TeamRef,
  swarm_id: SwarmRef.optional().describe('the board of this swarm; default: that of the team'),
}
const PostRefs = z.array(Ref).min(1).max(100).describe('the ids of posts')

const Payload = z.union([z.string().min(1).max(MAX_PAYLOAD_CHARS), z.record(z.string(), z.unknown())])

const PostView = Post.omit({ payload: true, is_object: true, read_by: true, order: true }).extend({
  payload: Payload,
  read: z.boolean().describe('whether you have read it'),
})

async function viewOf(
  fleet: Fleet,
  { payload, is_object, read_by, order: _, ...post }: Post,
  reader: string | undefined,
): Promise<z.infer<typeof PostView>> {
  const text = await fleet.blobs.read(payload)
  return {
    ...post,
    payload: is_object ? JSON.parse(text) : text,
    read: reader !== undefined && read_by.includes(reader),
  }
}

const swarmIn = async ({ fleet }: Context, team: Team, ref: string | undefined): Promise<string | null> =>
  ref === undefined ? null : (await lookUpSwarm(fleet, team, ref)).value.id

/** The posts of a team with these ids. Those of other teams do not exist. */
async function postsIn({ fleet }: Context, team: Team, refs: readonly string[]): Promise<Post[]> {
  const posts: Post[] = []
  for (const ref of refs) posts.push((await lookUp(fleet, 'posts', ref, each => each.team_id === team.id)).value)
  return posts
}

const HOUR_MS = 3_600_000

export const blackboard = [
  command({
    name: 'blackboard_post',
    may: 'mail.send',
    touches: 'view',
    mcp: 'teams',
    summary: 'Write on the blackboard of a team or a swarm. It wakes nobody: whoever wants to know reads it',
    http: 'POST /api/blackboard',
    agentMay: () => true,
    input: z.object({
      ...OnBoard,
      message_type: z.enum(POST_TYPES),
      payload: Payload.describe('a text, or an object'),
      target_handle: MemberRef.optional().describe('the name of the member whom it concerns most'),
      priority: z.enum(PRIORITIES).default('normal'),
    }),
    output: PostView,
    run: async (context, { team_id, swarm_id, target_handle, payload, ...rest }) => {
      if (JSON.stringify(payload).length > MAX_PAYLOAD_CHARS + 2)
        throw new InvalidInput('payload', `has more than ${MAX_PAYLOAD_CHARS} characters`)
      const team = await teamOf(context, team_id)
      const swarm = await swarmIn(context, team, swarm_id)
      const target = target_handle === undefined ? null : (await lookUpMember(context.fleet, team, target_handle)).value
      const author = await memberIn(context, team)
      const wanted = { ...rest, payload, target, swarm_id: swarm }
      const post = await postToBoard(context.fleet, ask(context, 'blackboard_post'), team, author, wanted)
      return viewOf(context.fleet, post, author.id)
    },
  }),
  query({
    name: 'blackboard_read',
    may: 'teams.read',
    mcp: { set: 'teams', defaults: { limit: 20 } },
    summary: 'Read the blackboard of a team or a swarm, newest first. Reading marks nothing: blackboard_mark_read does',
    http: 'GET /api/blackboard',
    agentMay: () => true,
    input: z.object({
      ...OnBoard,
      message_type: z.enum(POST_TYPES).optional(),
      priority: z.enum(PRIORITIES).optional(),
      unread_only: z.boolean().default(false).describe('only what you have not marked as read'),
      for_me: z.boolean().default(false).describe('only what is addressed to you'),
      archived: z.boolean().default(false).describe('also what was archived'),
      ...Paging,
    }),
    output: z.object({ posts: z.array(PostView), cursor: z.string().optional() }),
    run: async (
      context,
      { team_id, swarm_id, message_type, priority, unread_only, for_me, archived, limit, cursor },
    ) => {
      const team = await teamOf(context, team_id)
      const swarmId = await swarmIn(context, team, swarm_id)
      const reader = (await knownIn(context, team))?.id
      const page = await readBoard(context.fleet, team, {
        ...{ swarmId, archived, limit, cursor, unreadBy: unread_only ? reader : undefined },
        fits: post =>
          (!message_type || post.message_type === message_type) &&
          (!priority || post.priority === priority) &&
          (!for_me || (reader !== undefined && post.target?.member_id === reader)),
      })
      const posts = await Promise.all(page.posts.map(post => viewOf(context.fleet, post, reader)))
      return { posts, ...(page.cursor && { cursor: page.cursor }) }
    },
  }),
  command({
    name: 'blackboard_mark_read',
    may: 'mail.send',
    touches: 'view',
    mcp: 'teams',
    summary: 'Mark posts on the blackboard as read by you',
    http: 'POST /api/blackboard/mark-read',
    agentMay: () => true,
    input: z.object({ team_id: TeamRef, post_ids: PostRefs }),
    output: z.object({ marked: z.number().int().describe('how many you had not read before') }),
    run: async (context, { team_id, post_ids }) => {
      const team = await teamOf(context, team_id)
      const ids = (await postsIn(context, team, post_ids)).map(({ id }) => id)
      return { marked: await markRead(context.fleet, ids, await memberIn(context, team), actorOf(context)) }
    },
  }),
  command({
    name: 'blackboard_archive',
    may: 'mail.send',
    touches: 'view',
    mcp: 'teams',
    summary: 'Archive posts on the blackboard: your own, or, for those who steer the team, any and all older ones',
    http: 'POST /api/blackboard/archive',
    agentMay: () => true,
    input: z.object({
      ...OnBoard,
      post_ids: PostRefs.optional(),
      older_than_hours: z
        .number()
        .min(0)
        .max(100_000)
        .optional()
        .describe('instead of ids: everything older on this board'),
    }),
    output: z.object({ archived: z.number().int() }),
    run: async (context, { team_id, swarm_id, post_ids, older_than_hours }) => {
      if ((post_ids === undefined) === (older_than_hours === undefined))
        throw new InvalidInput('post_ids', 'or older_than_hours is needed, and only one of them')
      const team = await teamOf(context, team_id)
      const posts = await postsIn(context, team, post_ids ?? [])
      const member = await memberIn(context, team)
      const foreign = posts.find(({ from }) => from.member_id !== member.id)
      if ((foreign || older_than_hours !== undefined) && !steers(context, member))
        throw new Forbidden(
          foreign ? `${foreign.from.handle} wrote this post.` : `${member.handle} may archive only posts of its own.`,
          { try: 'A lead or coordinator of the team can archive it.' },
        )
      const actor = actorOf(context)
      if (older_than_hours === undefined)
        return {
          archived: await archivePosts(
            context.fleet,
            posts.map(({ id }) => id),
            actor,
          ),
        }
      const swarmId = await swarmIn(context, team, swarm_id)
      const before = new Date(Date.parse(context.fleet.now()) - older_than_hours * HOUR_MS).toISOString()
      return { archived: await archiveOlder(context.fleet, team, { swarmId, before, actor }) }
    },
  }),
]
