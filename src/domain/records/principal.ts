import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'

/** From the most to the least. What each may do is in `operations/roles.ts`. */
export const ROLES = ['owner', 'team-lead', 'coordinator', 'worker', 'merger', 'monitor'] as const
export const Role = z.enum(ROLES)
export type Role = z.infer<typeof Role>

/** A role in the whole fleet, in one project, or in one team of a project. */
export const Grant = z.strictObject({
  role: Role,
  project_id: Id.nullable().describe('empty: in the whole fleet'),
  team_id: Id.optional().describe('only in this team of the project'),
})
export type Grant = z.infer<typeof Grant>
export const MOST_GRANTS = 200
export const MOST_NAME_CHARS = 80

/**
 * Somebody besides the owner of the home who may ask: a person, or a service (a named account for scripts). Whoever can
 * open the files of the home is its owner, and needs no record.
 */
export const Principal = z.object({
  id: Id,
  kind: z.enum(['person', 'service']),
  name: z.string().trim().min(1).max(MOST_NAME_CHARS),
  grants: z.array(Grant).max(MOST_GRANTS),
  password: z
    .object({ salt: z.string(), hash: z.string() })
    .nullable()
    .default(null)
    .describe('scrypt; empty: only links sign this person in'),
  provider: z
    .object({
      issuer: z.string().max(1000),
      subject: z.string().max(1000),
      until: Timestamp.nullable().default(null).describe('how long the last sign-in there counts; empty: for ever'),
    })
    .nullable()
    .default(null)
    .describe('who vouches for this person, whose groups give the roles; empty: this fleet itself'),
  /** Raised to end everything that was signed in or made before: browsers, tokens, open streams. */
  epoch: z.number().int().default(0),
  /** The record stays, because events name it. */
  ended_at: Timestamp.nullable().default(null),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Principal = z.infer<typeof Principal>

/** A token of a person or a service. Only its hash is stored. */
export const AccessToken = z.object({
  id: Id.describe('part of the token, so that it can be found'),
  principal_id: Id.nullable().describe('whose it is; empty: the owner of the home, for a terminal'),
  parent_id: Id.nullable().default(null).describe('the token that made it, and with which it ends'),
  via: z
    .enum(['made', 'terminal', 'exchange'])
    .default('made')
    .describe('asked for, given to a terminal that signed in, or a JWT that POST /auth gave for another credential'),
  name: z.string().trim().min(1).max(80),
  hash: z.string().describe('SHA-256 of the whole token, base64url'),
  grants: z.array(Grant).max(MOST_GRANTS).nullable().describe('narrows what its principal may do; empty: all of it'),
  team_id: Id.nullable().default(null).describe('the team it speaks in; empty: none, or whichever is named'),
  epoch: z.number().int(),
  expires_at: Timestamp.nullable(),
  last_used_at: Timestamp.nullable().default(null),
  revoked_at: Timestamp.nullable().default(null),
  created_at: Timestamp,
})
export type AccessToken = z.infer<typeof AccessToken>
/** How many tokens may stand behind one another. Each is looked up with every request. */
export const MOST_PARENTS = 4

/** Whether a sign-in that was made in `epoch` still counts. Whom a provider vouches for signs in there now and then. */
export const isCurrent = (principal: Principal | undefined, epoch: number, now: string): principal is Principal =>
  principal !== undefined &&
  principal.ended_at === null &&
  principal.epoch === epoch &&
  (principal.provider?.until ?? now) >= now

export const isUsable = (token: AccessToken | undefined, now: string): token is AccessToken =>
  token !== undefined && token.revoked_at === null && (token.expires_at === null || token.expires_at > now)
