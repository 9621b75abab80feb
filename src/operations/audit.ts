import * as z from 'zod'
import { InvalidInput } from '../domain/errors.ts'
import { Timestamp } from '../domain/ids.ts'
import { AuditEntry, Way } from '../domain/records/audit.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { listAudit } from '../fleet/people/audit-list.ts'
import { lookUpPrincipal } from '../fleet/people/principals.ts'
import { lookUp } from '../fleet/records.ts'
import { Paging, ProjectRef, Ref } from './inputs.ts'
import { query } from './operation.ts'

const KINDS = ['owner', 'person', 'service', 'session', 'plugin', 'monitor']

export const audit = [
  query({
    name: 'list_audit',
    may: 'audit.read',
    mcp: 'history',
    summary:
      'List who asked for what, newest first: every command, and what was refused to known people, services and agents; a page may be short, and a cursor means there is more to look at',
    http: 'GET /api/audit',
    input: z.object({
      by: z
        .string()
        .min(1)
        .max(120)
        .optional()
        .describe('owner, person, service, session or plugin; person:<id> and the like; or the name of a person'),
      way: Way.optional(),
      operation: z.string().max(80).optional(),
      outcome: AuditEntry.shape.outcome.optional(),
      project_id: ProjectRef.optional(),
      mission_id: Ref.optional(),
      since: Timestamp.optional(),
      until: Timestamp.optional().describe('entries before this time'),
      ...Paging,
    }),
    output: z.object({
      entries: z.array(AuditEntry),
      cursor: z.string().optional(),
      strangers: z
        .number()
        .int()
        .nullable()
        .describe('requests without a valid sign-in since the server started; empty: you see some projects only'),
    }),
    run: async ({ fleet }, { limit, cursor, by, project_id, mission_id, ...filter }) => {
      const wanted = {
        ...filter,
        by: by && (await principalIn(fleet, by)),
        project_id: project_id && (await lookUp(fleet, 'projects', project_id)).value.id,
        mission_id: mission_id && (await lookUp(fleet, 'missions', mission_id)).value.id,
      }
      const { measurements, view } = fleet
      return {
        ...(await listAudit(fleet, wanted, { limit, cursor })),
        strangers: view || !measurements.isServing ? null : measurements.strangers,
      }
    },
  }),
]

/** Who is meant. Whoever sees some projects only knows no names: they filter by what the entries say. */
async function principalIn(fleet: Fleet, by: string): Promise<string> {
  if (KINDS.includes(by.split(':')[0]!)) return by
  const found = await lookUpPrincipal(fleet, by).catch(() => undefined)
  if (found) return `${found.value.kind}:${found.value.id}`
  throw new InvalidInput('by', `nobody here is called ${JSON.stringify(by)}`, { try: 'fleet user list --ended' })
}
