import { z } from 'zod'
import { Id, Timestamp } from './ids.ts'

/** The one record of what holds for the whole fleet; its id is FLEET. */
export const FLEET = 'fleet'
export const FleetState = z.object({
  id: z.literal(FLEET),
  paused: z.boolean().default(false),
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
