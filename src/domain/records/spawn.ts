import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'
import { MAX_REASON_CHARS, StoredText } from '../text.ts'
import { Author } from './board.ts'
import { Handle, MemberRole, PRIORITIES } from './team.ts'

export const SPAWN_STATES = ['requested', 'waiting', 'spawned', 'refused', 'cancelled'] as const

/** Somebody asks for another member of a team. */
export const Spawn = z.object({
  id: Id,
  team_id: Id,
  project_id: Id,
  from: Author.describe('who asks'),
  /** The mission of the agent who asks: the new member may do no more than it. Empty: a person asks. */
  mission_id: Id.nullable().default(null),
  actor: z.string().max(120),
  handle: Handle.nullable().default(null).describe('its name; empty: made from its role when it is added'),
  role: MemberRole,
  agent: z.string().max(60).nullable().default(null).describe('empty: the agent of whoever asks'),
  model: z.string().max(120).nullable().default(null),
  subdirectory: z.string().max(1000).default('').describe('where in the repository it works'),
  charter: StoredText.nullable().default(null),
  task: StoredText.nullable().default(null),
  swarm_id: Id.nullable().default(null),
  priority: z.enum(PRIORITIES).default('normal'),
  depends_on: z
    .array(Id)
    .max(20)
    .default([])
    .describe('requests whose members must first have done what they came for'),
  state: z
    .enum(SPAWN_STATES)
    .describe('requested: somebody has to grant it; waiting: it was granted, and waits for room'),
  waits_for: z.string().max(MAX_REASON_CHARS).nullable().default(null),
  decided_by: z.string().max(120).nullable().default(null).describe('who granted or refused it'),
  reason: z.string().max(MAX_REASON_CHARS).nullable().default(null).describe('why it was refused or cancelled'),
  member_id: Id.nullable().default(null),
  order: z.number().int(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Spawn = z.infer<typeof Spawn>

export const isOpen = ({ state }: Pick<Spawn, 'state'>): boolean => state === 'requested' || state === 'waiting'
