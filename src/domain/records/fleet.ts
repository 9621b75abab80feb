import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'
import { Usage } from './session.ts'

/** The one record of what holds for the whole fleet; its id is FLEET. */
export const FLEET = 'fleet'
export const FleetState = z.object({
  id: z.literal(FLEET),
  paused: z.boolean().default(false),
  /** Counts edits of dependencies: two at once cannot both win, so their halves never close a cycle. */
  dependency_edits: z.number().int().default(0),
  /** What fleet.toml said when it last could be read: it holds while that is broken, and across restarts. */
  settings: z.record(z.string(), z.unknown()).default({}),
  updated_at: Timestamp,
})
export type FleetState = z.infer<typeof FleetState>

/** That a command with this idempotency key was carried out, and on what; its id is derived from the key. */
export const Receipt = z.object({
  id: Id,
  operation: z.string(),
  subject: z.string().describe('the id of the record the command made or changed'),
  created_at: Timestamp,
})
export type Receipt = z.infer<typeof Receipt>

/** How many missions are in each status: folded from events up to the cursor, and from there on by whoever reads it. */
export const MISSION_COUNTS = 'missions'
export const Counts = z.object({
  id: z.literal(MISSION_COUNTS),
  cursor: z.string().nullable(),
  counts: z.record(z.string(), z.number().int()),
  projects: z.record(Id, z.record(z.string(), z.number().int())).default({}).describe('the same for each project'),
})
export type Counts = z.infer<typeof Counts>

/** How much of what a provider grants in a time is used up, as its clients tell. */
export const ProviderWindow = z.object({
  name: z.string().max(200),
  used_percent: z.number(),
  resets_at: Timestamp.nullable(),
})
export type ProviderWindow = z.infer<typeof ProviderWindow>

/** What keeps a provider from taking something new: a limit that was reached, or a window that is nearly used up. Nobody else is held back. */
export const Provider = z.object({
  id: Id,
  held_until: Timestamp.nullable().default(null),
  reason: z.string().max(4000).default(''),
  windows: z.array(ProviderWindow).max(20).default([]),
  updated_at: Timestamp,
})
export type Provider = z.infer<typeof Provider>

/** What one agent used with one model on one project in one day (of UTC), summed when its sessions end; its id is made of these. */
export const Spending = Usage.extend({
  id: Id,
  day: z.iso.date(),
  project_id: Id,
  agent: z.string(),
  model: z
    .string()
    .nullable()
    .default(null)
    .describe('as its client names it; where it uses several, the one it says it works with; empty: nobody tells'),
  sessions: z.number().int(),
})
export type Spending = z.infer<typeof Spending>
