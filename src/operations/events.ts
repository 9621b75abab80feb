import * as z from 'zod'
import { InvalidInput } from '../domain/errors.ts'
import { Event, EventKind } from '../domain/records/event.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { happenedAfter, happenedBefore, type Wanted } from '../fleet/history.ts'
import { lookUp } from '../fleet/records.ts'
import { followEvents } from '../fleet/transcripts/follow.ts'
import { Paging, ProjectRef, Ref } from './inputs.ts'
import { query, stream } from './operation.ts'

const Cursor = z.string().max(120)
const Filters = {
  project_id: ProjectRef.optional(),
  mission_id: Ref.optional(),
  session_id: Ref.optional(),
  kinds: z.array(EventKind).min(1).max(100).optional().describe('only these'),
  actor: z
    .string()
    .max(120)
    .optional()
    .describe('whose doing: person, fleet, plugin, session, or one by its full name'),
}

export const events = [
  query({
    name: 'list_events',
    summary: 'What happened, oldest first: the last of it, what was before, or what came after',
    http: 'GET /api/events',
    input: z.object({
      ...Filters,
      before: Cursor.optional().describe('the cursor of an event: what happened before it'),
      after: Cursor.optional().describe('what happened since; with neither, the newest'),
      limit: Paging.limit,
    }),
    output: z.object({
      events: z.array(Event).describe('fewer than asked for where few of many are wanted'),
      start: z.string().optional().describe('as `before`, goes on backwards; absent: there was nothing'),
      cursor: z.string().describe('as `after`, also of stream_events, goes on with what comes'),
      more: z.boolean().describe('whether there may be more in the direction it was read'),
      reset: z.boolean().describe('older events were dropped: read the state anew'),
    }),
    run: async ({ fleet }, { after, before, limit, ...filters }) => {
      const wanted = await named(fleet, filters)
      if (after === undefined) return happenedBefore(fleet, wanted, { before, limit })
      if (before !== undefined) throw new InvalidInput('before', 'does not go with after')
      return happenedAfter(fleet, wanted, { after, limit })
    },
  }),
  stream({
    name: 'stream_events',
    summary: 'Follow what happens, from now or from a cursor',
    http: 'GET /api/events/stream',
    input: z.object({ project_id: ProjectRef.optional(), after: z.string().optional() }),
    output: z.record(z.string(), z.unknown()),
    run: async function* ({ fleet, signal }, { project_id, after }) {
      const project = project_id && (await lookUp(fleet, 'projects', project_id)).value.id
      yield* followEvents(fleet, { project, after, signal })
    },
  }),
]

/** What is meant by the first letters of ids. A session's events are among those of its mission, which are found at once. */
async function named(fleet: Fleet, { project_id, mission_id, session_id, ...rest }: Wanted): Promise<Wanted> {
  const session = session_id === undefined ? undefined : (await lookUp(fleet, 'sessions', session_id)).value
  const mission = mission_id === undefined ? undefined : (await lookUp(fleet, 'missions', mission_id)).value.id
  return {
    ...rest,
    session_id: session?.id,
    mission_id: mission ?? session?.mission_id,
    project_id: project_id && (await lookUp(fleet, 'projects', project_id)).value.id,
  }
}
