import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'
import { StoredText } from '../text.ts'
import { PRIORITIES } from './team.ts'

export const POST_TYPES = ['request', 'response', 'status', 'directive', 'checkpoint'] as const

/** The longest payload of a post, as text. */
export const MAX_PAYLOAD_CHARS = 100_000

/** A member at the time of writing: its name may belong to another one later. */
export const Author = z.object({ member_id: Id, handle: z.string().max(40), role: z.string().max(40) })
export type Author = z.infer<typeof Author>

/** What a member wrote on the blackboard of its team or swarm. Unlike mail it wakes nobody. */
export const Post = z.object({
  id: Id,
  team_id: Id,
  project_id: Id,
  swarm_id: Id.nullable().default(null).describe('empty: on the board of the whole team'),
  from: Author,
  message_type: z.enum(POST_TYPES),
  payload: StoredText,
  /** The payload was given as an object, and is kept as JSON. */
  is_object: z.boolean(),
  target: Author.pick({ member_id: true, handle: true }).nullable().default(null).describe('whom it concerns most'),
  priority: z.enum(PRIORITIES).default('normal'),
  read_by: z.array(Id).default([]).describe('the members who have read it'),
  order: z.number().int(),
  created_at: Timestamp,
  archived_at: Timestamp.nullable().default(null),
})
export type Post = z.infer<typeof Post>

/** Its target has not read it. */
export const awaitsTarget = ({ target, read_by, archived_at }: Post): boolean =>
  target !== null && archived_at === null && !read_by.includes(target.member_id)
