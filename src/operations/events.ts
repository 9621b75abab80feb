import * as z from 'zod'
import { InvalidInput } from '../domain/errors.ts'
import { Event, EventKind } from '../domain/records/event.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { happenedAfter, happenedBefore, type Wanted } from '../fleet/history.ts'
import { lookUp } from '../fleet/records.ts'
import { lookUpTeam } from '../fleet/teams/teams.ts'
import { followEvents } from '../fleet/transcripts/follow.ts'
import { isPrincipal, reachFor } from './authorize.ts'
import { actorNamed, Paging, ProjectRef, Ref } from './inputs.ts'
import { type Caller, query, stream } from './operation.ts'
import type { Permission } from './permissions.ts'

const Cursor = z.string().max(120)
const Filters = {
  project_id: ProjectRef.optional(),
  mission_id: Ref.optional(),
  session_id: Ref.optional(),
  team_id: Ref.optional().describe('a team, by id or name'),
  kinds: z.array(EventKind).min(1).max(100).optional().describe('only these'),
  actor: z
    .string()
    .max(120)
    .optional()
    .describe('who caused it: owner, person (everybody), service, fleet, plugin, session, or one by its full name'),
}

export const events = [
  query({
    name: 'list_events',
    may: 'missions.read',
    mcp: 'history',
    summary: 'List events, oldest first: the newest, those before a cursor, or those after one',
    http: 'GET /api/events',
    input: z.object({
      ...Filters,
      before: Cursor.optional().describe('the cursor of an event: events before it'),
      after: Cursor.optional().describe('events after this cursor; with neither, the newest'),
      limit: Paging.limit,
    }),
    output: z.object({
      events: z.array(Event).describe('may be fewer than requested if a filter matches few events'),
      start: z.string().optional().describe('pass it as `before` to read backwards; absent: there was nothing'),
      cursor: z.string().describe('pass it as `after`, also to stream_events, to continue'),
      more: z.boolean().describe('whether there may be more in the direction of reading'),
      reset: z.boolean().describe('older events were dropped: read the state again'),
    }),
    run: async ({ fleet, caller }, { after, before, limit, ...filters }) => {
      const wanted = await named(fleet, filters)
      if (after !== undefined && before !== undefined) throw new InvalidInput('before', 'cannot be combined with after')
      const page =
        after === undefined
          ? await happenedBefore(fleet, wanted, { before, limit })
          : await happenedAfter(fleet, wanted, { after, limit })
      return { ...page, events: page.events.filter(event => isTold(caller, event)) }
    },
  }),
  stream({
    name: 'stream_events',
    may: 'missions.read',
    // A tool answers once, and list_events returns the same page by page.
    mcp: false,
    summary: 'Follow events, from now or from a cursor',
    http: 'GET /api/events/stream',
    input: z.object({
      project_id: ProjectRef.optional(),
      mission_id: Ref.optional(),
      team_id: Filters.team_id,
      after: z.string().optional(),
    }),
    output: z.record(z.string(), z.unknown()),
    run: async function* ({ fleet, caller, signal }, { project_id, mission_id, team_id, after }) {
      const wanted = await named(fleet, { project_id, mission_id, team_id })
      const { project_id: project, mission_id: mission, team_id: team } = wanted
      for await (const item of followEvents(fleet, { project, mission, team, after, signal }))
        if (isSignOfLife(item) || isTold(caller, item.data as Event)) yield item
    },
  }),
]

/** What a person or a service needs, in the whole fleet, to be told of what is about no project. */
const NEEDED: Partial<Record<EventKind, Permission>> = {
  principal_added: 'audit.read',
  principal_changed: 'audit.read',
  principal_ended: 'audit.read',
  token_made: 'audit.read',
  token_revoked: 'audit.read',
  scrape_token_made: 'audit.read',
  scrape_token_revoked: 'audit.read',
  device_signed_in: 'audit.read',
  device_signed_out: 'audit.read',
  notifications_changed: 'audit.read',
  notification_failed: 'audit.read',
  settings_changed: 'settings.write',
  settings_refused: 'settings.write',
  plugin_configured: 'plugins.manage',
  plugin_fault: 'plugins.manage',
}

const isSignOfLife = ({ kind }: { kind: string }): boolean => kind === 'ping' || kind === 'reset'

/** Everybody is told of what they did themselves. */
function isTold(caller: Caller, { kind, actor }: Pick<Event, 'kind' | 'actor'>): boolean {
  const needed = NEEDED[kind]
  return !needed || !isPrincipal(caller) || actor === actorNamed(caller) || reachFor(caller, needed) === 'fleet'
}

/** Resolves shortened ids. A session's events are found through its mission, which has an index. */
async function named(fleet: Fleet, { project_id, mission_id, session_id, team_id, ...rest }: Wanted): Promise<Wanted> {
  const team = team_id === undefined ? undefined : (await lookUpTeam(fleet, team_id)).value
  const session = session_id === undefined ? undefined : (await lookUp(fleet, 'sessions', session_id)).value
  const mission = mission_id === undefined ? undefined : (await lookUp(fleet, 'missions', mission_id)).value.id
  return {
    ...rest,
    session_id: session?.id,
    mission_id: mission ?? session?.mission_id,
    team_id: team?.id,
    project_id: project_id ? (await lookUp(fleet, 'projects', project_id)).value.id : team?.project_id,
  }
}
