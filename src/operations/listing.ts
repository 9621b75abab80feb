import * as z from 'zod'
import { Result, Status } from '../domain/records/mission.ts'
import { missionCounts } from '../fleet/counts.ts'
import { listMissions, MOST_IDS, MOST_LOOKED_AT } from '../fleet/missions/listing.ts'
import { lookUp } from '../fleet/records.ts'
import { Paging, ProjectRef, Ref } from './inputs.ts'
import { query } from './operation.ts'
import { MissionView, missionViews } from './views.ts'

export const MissionList = z.object({ missions: z.array(MissionView), cursor: z.string().optional() })

const ByStatus = z.record(z.string(), z.number().int()).describe('those that are not zero')

/** Finding missions among many. */
export const listing = [
  query({
    name: 'list_missions',
    summary: `List missions, newest first. Of agent, text and result no index knows: a call looks at ${MOST_LOOKED_AT} missions at most and may answer with fewer than asked for, or none; with a cursor there is more to look at`,
    http: 'GET /api/missions',
    input: z.object({
      project_id: ProjectRef.optional(),
      status: z
        .union([Status, z.array(Status).min(1).max(10)])
        .optional()
        .describe('one, or several'),
      agent: z.string().max(40).optional().describe("whose work it is: its own agent, its project's or the fleet's"),
      tag: z.string().optional(),
      text: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe('in its title or the beginning of its prompt, in any case; or the first letters of its id'),
      ids: z
        .array(z.string().max(120))
        .max(MOST_IDS)
        .optional()
        .describe('only these, whole ids; those that are gone are missing, and no limit applies'),
      parent_mission_id: Ref.optional(),
      result: Result.optional(),
      ended_since: z.iso.datetime().optional().describe('over, and not before this; implies order ended'),
      order: z.enum(['created', 'ended']).default('created').describe('ended: those that are over, by when they ended'),
      ...Paging,
    }),
    output: MissionList,
    run: async ({ fleet }, filter) => {
      const { missions, cursor } = await listMissions(fleet, filter)
      return { missions: await missionViews(fleet, missions), cursor }
    },
  }),
  query({
    name: 'count_missions',
    summary: 'How many missions are in each status, in all and of each project, or of one project',
    http: 'GET /api/missions/counts',
    input: z.object({ project_id: ProjectRef.optional() }),
    output: z.object({
      total: z.number().int(),
      counts: ByStatus,
      projects: z.record(z.string(), ByStatus).describe('by the id of the project'),
    }),
    run: async ({ fleet }, { project_id }) => {
      const all = await missionCounts(fleet)
      const project = project_id && (await lookUp(fleet, 'projects', project_id)).value.id
      const counts = project ? (all.projects[project] ?? {}) : all.counts
      return {
        total: Object.values(counts).reduce((sum, count) => sum + count, 0),
        counts,
        projects: project ? { [project]: counts } : all.projects,
      }
    },
  }),
]
