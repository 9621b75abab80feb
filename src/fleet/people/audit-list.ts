import { InvalidInput } from '../../domain/errors.ts'
import type { AuditEntry, Way } from '../../domain/records/audit.ts'
import type { Fleet } from '../fleet.ts'

/** One answer looks at no more than this many entries, however few of them match. */
const MOST_LOOKED_AT = 5000

export interface AuditFilter {
  /** `owner`, `person:<id>`, or a kind: `session`, `plugin`. */
  by?: string
  way?: Way
  operation?: string
  outcome?: AuditEntry['outcome']
  project_id?: string
  mission_id?: string
  since?: string
  until?: string
}

/** Newest first. With a cursor there is more to look at, even if the page is short. */
export async function listAudit(
  fleet: Fleet,
  filter: AuditFilter,
  { limit, cursor }: { limit: number; cursor?: string },
): Promise<{ entries: AuditEntry[]; cursor?: string }> {
  if (filter.since && filter.until && filter.since > filter.until)
    throw new InvalidInput('since', 'is later than until')
  const entries: AuditEntry[] = []
  let at = cursor
  for (let looked = 0; looked < MOST_LOOKED_AT; ) {
    const page = await fleet.store.find('audit', {
      ...rangeOf(filter),
      ...{ from: filter.since, below: filter.until, newestFirst: true },
      // Never more than are missing, so that the cursor is right after the last one.
      limit: limit - entries.length,
      cursor: at,
    })
    looked += Math.max(page.items.length, 1)
    entries.push(...page.items.map(({ value }) => value).filter(each => isWanted(each, filter)))
    at = page.cursor
    if (at === undefined || entries.length >= limit) break
  }
  return { entries, ...(at !== undefined && { cursor: at }) }
}

function rangeOf({ by, project_id }: AuditFilter): { index: string; equals: string[] } {
  if (project_id !== undefined) return { index: 'project', equals: [project_id] }
  if (by !== undefined && !KINDS.includes(by)) return { index: 'principal', equals: [by] }
  return { index: 'at', equals: [] }
}

/** Every one of a kind. The owner is one alone. */
const KINDS = ['person', 'service', 'session', 'plugin']

const isWanted = (entry: AuditEntry, { by, way, operation, outcome, mission_id }: AuditFilter): boolean =>
  (by === undefined || isBy(entry, by)) &&
  (way === undefined || entry.way === way) &&
  (operation === undefined || entry.operation === operation) &&
  (outcome === undefined || entry.outcome === outcome) &&
  (mission_id === undefined || entry.mission_id === mission_id)

const isBy = ({ principal: { kind, id } }: AuditEntry, by: string): boolean =>
  KINDS.includes(by) ? kind === by : by === (id === null ? kind : `${kind}:${id}`)
