import * as z from 'zod'
import { Timestamp } from '../ids.ts'

/** A client retries at its provider. Its conversation is paused until then. */
export const Retrying = z.object({
  status: z.number().int().nullable().describe('the HTTP status of the provider; empty: the client does not say'),
  why: z.string().describe("in the client's words"),
  attempt: z.number().int().describe('the number of the try; 0: the client does not count'),
  of: z.number().int().nullable().describe('how often it tries; empty: it does not say'),
  next_at: Timestamp.nullable().describe('when it tries next; empty: it does not say'),
  since: Timestamp.describe('the time of the first of these tries'),
})
export type Retrying = z.infer<typeof Retrying>
