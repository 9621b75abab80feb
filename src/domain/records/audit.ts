import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'

/** From where somebody asks. A page names its browser beside it, and a token its id. */
export const WAYS = ['terminal', 'page', 'rest', 'mcp', 'websocket', 'plugin'] as const
export const Way = z.enum(WAYS)
export type Way = z.infer<typeof Way>

/** Whoever asks and is known. Strangers are counted, never stored. */
export const AuditPrincipal = z.object({
  kind: z.enum(['owner', 'person', 'service', 'session', 'plugin', 'monitor']),
  id: z.string().max(120).nullable().describe('empty: the owner of the home, or the scraper'),
  name: z.string().max(120).describe('as it was then'),
})
export type AuditPrincipal = z.infer<typeof AuditPrincipal>

export const MOST_TOUCHED = 10

/** A command, or a refusal. It has no field of the input: only names of records that exist. */
export const AuditEntry = z.object({
  id: Id,
  at: Timestamp,
  principal: AuditPrincipal,
  way: Way,
  address: z.string().max(60).nullable().describe('of the connection; empty: a program on the machine of the home'),
  device_id: Id.nullable().describe('the browser'),
  token_id: Id.nullable().describe('the token of a person or service'),
  operation: z.string().max(80),
  project_id: Id.nullable(),
  mission_id: Id.nullable(),
  touched: z
    .array(z.string().max(160))
    .max(MOST_TOUCHED)
    .describe('collection/id of what it changed or was about, at most ten'),
  outcome: z.enum(['done', 'refused']),
  code: z.string().max(60).nullable().describe('of the refusal, such as forbidden'),
  count: z.number().int().min(1).describe('equal refusals of one minute are one entry'),
  last_at: Timestamp.describe('of the last of them'),
})
export type AuditEntry = z.infer<typeof AuditEntry>

/** Names a principal in an index and a filter: `owner`, `person:<id>`. */
export const principalKey = ({ kind, id }: Pick<AuditPrincipal, 'kind' | 'id'>): string =>
  id === null ? kind : `${kind}:${id}`
