import * as z from 'zod'

/** What a reactor cannot handle, set aside with its reason until a look at it succeeds. */
export const Fault = z.object({
  id: z.string(),
  reactor: z.string().describe('which part of the fleet cannot continue'),
  record: z.string().nullable().describe('the record it fails on, such as missions/…; null: it fails as a whole'),
  since: z.string(),
  tries: z.number().int(),
  reason: z.string(),
  tried_at: z.string(),
  next_try_at: z.string(),
})
export type Fault = z.infer<typeof Fault>

const SHORTEST_PAUSE_MS = 5000
const LONGEST_PAUSE_MS = 600_000

/** How long to wait before the next try, after this many. */
export const pauseAfter = (tries: number): number =>
  Math.min(SHORTEST_PAUSE_MS * 2 ** Math.max(0, tries - 1), LONGEST_PAUSE_MS)
