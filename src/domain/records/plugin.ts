import * as z from 'zod'
import { Timestamp } from '../ids.ts'
import { MAX_REASON_CHARS } from '../text.ts'

export const PluginName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,59}$/, 'small letters, digits, dots and dashes, at most 60')

/** What is remembered of a plugin; the plugin itself is a file. Its id is its name. */
export const PluginRecord = z.object({
  id: PluginName,
  enabled: z.boolean(),
  reason: z.string().max(MAX_REASON_CHARS).nullable().default(null).describe('why the fleet switched it off'),
  faults: z.number().int().default(0).describe('how often it threw, hung, ended or answered nonsense'),
  last_fault: z
    .object({ at: Timestamp, text: z.string().max(MAX_REASON_CHARS) })
    .nullable()
    .default(null),
  cursor: z.string().nullable().default(null).describe('up to here it was told what happened'),
  updated_at: Timestamp,
})
export type PluginRecord = z.infer<typeof PluginRecord>
