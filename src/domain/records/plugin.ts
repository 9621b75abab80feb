import * as z from 'zod'
import { Timestamp } from '../ids.ts'
import { MAX_REASON_CHARS } from '../text.ts'

export const PluginName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,59}$/, 'lower-case letters, digits, dots and dashes, at most 60')

/** What is stored about a plugin. The plugin itself is a file, and its id is its name. */
export const PluginRecord = z.object({
  id: PluginName,
  enabled: z.boolean(),
  reason: z.string().max(MAX_REASON_CHARS).nullable().default(null).describe('why the fleet switched it off'),
  faults: z.number().int().default(0).describe('how often it threw, hung, exited or gave an invalid answer'),
  last_fault: z
    .object({ at: Timestamp, text: z.string().max(MAX_REASON_CHARS) })
    .nullable()
    .default(null),
  cursor: z.string().nullable().default(null).describe('the last event it was told'),
  updated_at: Timestamp,
})
export type PluginRecord = z.infer<typeof PluginRecord>
