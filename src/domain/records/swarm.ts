import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'
import { Handle, MOST_MEMBERS } from './team.ts'

/** A named group within a team, with a maximum of its own and a blackboard of its own. */
export const Swarm = z.object({
  id: Id,
  team_id: Id,
  project_id: Id,
  name: Handle,
  description: z.string().max(2000).default(''),
  max_agents: z.number().int().min(1).max(MOST_MEMBERS).default(10).describe('how many members it may have at once'),
  state: z
    .enum(['active', 'ending', 'ended'])
    .default('active')
    .describe('ending: it was killed, and its members are being dismissed'),
  killed_by: z.string().max(120).nullable().default(null),
  created_at: Timestamp,
  updated_at: Timestamp,
  ended_at: Timestamp.nullable().default(null),
})
export type Swarm = z.infer<typeof Swarm>
