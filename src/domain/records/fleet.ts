import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'
import { Usage } from './session.ts'

/** A filter of the board under a name. */
export const BoardView = z.object({
  name: z.string().trim().min(1).max(60),
  search: z
    .string()
    .max(1000)
    .regex(/^[\w.~%+=&*-]*$/)
    .describe('the filters as in the address of the page, without the question mark'),
})
export type BoardView = z.infer<typeof BoardView>
export const MOST_BOARD_VIEWS = 50

/** The single record with the state of the whole fleet; its id is FLEET. */
export const FLEET = 'fleet'
export const FleetState = z.object({
  id: z.literal(FLEET),
  paused: z.boolean().default(false),
  /** Counts edits of dependencies. Of two edits at once only one wins, so they cannot close a cycle together. */
  dependency_edits: z.number().int().default(0),
  /** What fleet.toml said when it could last be read. It applies while the file is broken, and across restarts. */
  settings: z.record(z.string(), z.unknown()).default({}),
  /** How often each reactor has failed, since the home was made. */
  fault_counts: z.record(z.string(), z.number().int()).default({}),
  /** Saved views of the board. */
  board_views: z.array(BoardView).default([]),
  /** What a scraper shows to read measurements. Only its hash is kept. */
  scrape_token: z.object({ hash: z.string(), created_at: Timestamp }).nullable().default(null),
  updated_at: Timestamp,
})
export type FleetState = z.infer<typeof FleetState>

/** Proof that a command with this idempotency key was carried out, and on what. Its id is derived from the key. */
export const Receipt = z.object({
  id: Id,
  operation: z.string(),
  subject: z.string().describe('the id of the record the command made or changed'),
  input: z.string().nullable().default(null).describe('what was asked for, as a fingerprint; null: not known'),
  created_at: Timestamp,
})
export type Receipt = z.infer<typeof Receipt>

/** How many missions are in each status, folded from events up to the cursor. A reader folds the rest. */
export const MISSION_COUNTS = 'missions'
/** What ended sessions add up to. It only grows: what a deleted mission used stays counted. */
export const Totals = z.object({
  sessions: z.record(z.string(), z.record(z.string(), z.number().int())).describe('by agent and outcome'),
  usage: z.record(z.string(), Usage).describe('by agent'),
  restarts: z.number().int().default(0).describe('how often members of teams were started again'),
})
export type Totals = z.infer<typeof Totals>
export const Counts = z.object({
  id: z.literal(MISSION_COUNTS),
  cursor: z.string().nullable(),
  counts: z.record(z.string(), z.number().int()),
  projects: z.record(Id, z.record(z.string(), z.number().int())).default({}).describe('the same for each project'),
  totals: Totals.nullable().default(null).describe('null: an earlier version wrote this record'),
})
export type Counts = z.infer<typeof Counts>

/** How much of a provider's quota for a window is used, as its clients report it. */
export const ProviderWindow = z.object({
  name: z.string().max(200),
  used_percent: z.number(),
  resets_at: Timestamp.nullable(),
})
export type ProviderWindow = z.infer<typeof ProviderWindow>

/** Why a provider is on hold: a limit was reached, or a window is nearly used up. Other providers are not held. */
export const Provider = z.object({
  id: Id,
  held_until: Timestamp.nullable().default(null),
  reason: z.string().max(4000).default(''),
  windows: z.array(ProviderWindow).max(20).default([]),
  updated_at: Timestamp,
})
export type Provider = z.infer<typeof Provider>

/**
 * What one agent used with one model on one project in one day (UTC), summed when its sessions end. Its id is made of
 * these.
 */
export const Spending = Usage.extend({
  id: Id,
  day: z.iso.date(),
  project_id: Id,
  agent: z.string(),
  model: z
    .string()
    .nullable()
    .default(null)
    .describe('the name its client uses; with several models, the one it says it works with; empty: unknown'),
  sessions: z.number().int(),
})
export type Spending = z.infer<typeof Spending>
