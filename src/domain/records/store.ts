import * as z from 'zod'
import { Timestamp } from '../ids.ts'

/** How far the records have been brought by migrations. */
export const MIGRATED = 'records'
export const Migrated = z.object({
  id: z.literal(MIGRATED),
  steps: z.number().int().describe('how many of the numbered steps are done'),
})
export type Migrated = z.infer<typeof Migrated>

/**
 * The right to act for the home. Every commit of the daemon checks this record, so taking the lease shuts out the
 * daemon that had it before.
 */
export const LEASE = 'decider'
export const LeaseRecord = z.object({
  id: z.literal(LEASE),
  epoch: z.number().int().describe('grows each time the lease is taken'),
  taken_at: Timestamp.nullable(),
  home: z
    .string()
    .nullable()
    .default(null)
    .describe('on an engine that several servers share: the id of the home with the files of the fleet'),
  server: z.string().nullable().default(null).describe('who took it, in words'),
})
export type LeaseRecord = z.infer<typeof LeaseRecord>
