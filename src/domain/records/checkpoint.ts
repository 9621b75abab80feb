import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'
import { MAX_REASON_CHARS, StoredText } from '../text.ts'
import { Author } from './board.ts'

const Line = z.string().min(1).max(2000)
const Lines = z.array(Line).max(50)

/** How the work of a member stands, so that somebody can go on with it. */
export const Standing = z.object({
  goal: z.string().min(1).max(4000).describe('what is to be reached'),
  now: z.string().min(1).max(20_000).describe('how it stands at this moment'),
  test: z.string().max(4000).default('').describe('how to see whether it works'),
  done_this_session: z
    .array(z.object({ task: Line, files: z.array(z.string().min(1).max(500)).max(200).default([]) }))
    .max(50)
    .default([]),
  worked: Lines.default([]).describe('what worked'),
  failed: Lines.default([]).describe('what was tried and failed'),
  blockers: Lines.default([]),
  questions: Lines.default([]).describe('what is open'),
  next: Lines.default([]).describe('what to do next'),
})
export type Standing = z.infer<typeof Standing>

export const CHECKPOINT_STATES = ['open', 'accepted', 'rejected'] as const

/** How a member's work stands, with a commit of it, addressed to a member: to itself, or to whoever takes over. */
export const Checkpoint = z.object({
  id: Id,
  team_id: Id,
  project_id: Id,
  from: Author,
  to: Author.pick({ member_id: true, handle: true }),
  goal: z.string().max(4000),
  /** A `Standing`, as JSON. */
  standing: StoredText,
  commit: z.string().max(64).nullable().default(null).describe('the work in its worktree at that moment'),
  no_commit: z.string().max(MAX_REASON_CHARS).nullable().default(null).describe('why there is no commit'),
  state: z.enum(CHECKPOINT_STATES).default('open'),
  outcome: z.string().max(4000).nullable().default(null),
  decided_at: Timestamp.nullable().default(null),
  /** The member whose next session is told about it, and the session that was. */
  loading: z.object({ member_id: Id, session_id: Id.nullable() }).nullable().default(null),
  order: z.number().int(),
  created_at: Timestamp,
})
export type Checkpoint = z.infer<typeof Checkpoint>
