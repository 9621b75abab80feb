import * as z from 'zod'
import { BoardView } from '../domain/records/fleet.ts'
import { Result, Status } from '../domain/records/mission.ts'
import { missionCounts } from '../fleet/counts.ts'
import { boardViews, deleteBoardView, saveBoardView } from '../fleet/missions/board-views.ts'
import { listMissions, MOST_IDS, MOST_LOOKED_AT } from '../fleet/missions/listing.ts'
import { lookUp } from '../fleet/records.ts'
import { ask, Paging, ProjectRef, Ref } from './inputs.ts'
import { command, query } from './operation.ts'
import { MissionView, missionViews } from './views.ts'

export const MissionList = z.object({ missions: z.array(MissionView), cursor: z.string().optional() })

const ByStatus = z.record(z.string(), z.number().int()).describe('statuses with a count of zero are left out')

const Views = z.object({ views: z.array(BoardView) })

export const listing = [
  query({
    name: 'list_missions',
    may: 'missions.read',
    mcp: { set: 'control', name: 'list_missions_in_full' },
    summary: `List missions, newest first. No index covers agent, text and result: with these, a call looks at ${MOST_LOOKED_AT} missions at most and may return fewer than requested, or none; a cursor means there is more to look at`,
    http: 'GET /api/missions',
    input: z.object({
      project_id: ProjectRef.optional(),
      status: z
        .union([Status, z.array(Status).min(1).max(10)])
        .optional()
        .describe('one or several'),
      agent: z.string().max(40).optional().describe("the mission's own agent, its project's or the fleet's"),
      tag: z.string().optional(),
      text: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe('words in its title or the beginning of its prompt, in any case; or the first letters of its id'),
      ids: z
        .array(z.string().max(120))
        .max(MOST_IDS)
        .optional()
        .describe('only these, by full id; missing ones are left out, and no limit applies'),
      parent_mission_id: Ref.optional(),
      result: Result.optional(),
      ended_since: z.iso
        .datetime()
        .optional()
        .describe('only those that ended at this time or later; implies order ended'),
      created_since: z.iso.datetime().optional().describe('only those created at this time or later'),
      order: z.enum(['created', 'ended']).default('created').describe('ended: only those that are over, by end time'),
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
    may: 'missions.read',
    mcp: 'control',
    summary: 'Count missions by status, in total and per project, or for one project',
    http: 'GET /api/missions/counts',
    input: z.object({ project_id: ProjectRef.optional() }),
    output: z.object({
      total: z.number().int(),
      counts: ByStatus,
      projects: z.record(z.string(), ByStatus).describe('by project id'),
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
  query({
    name: 'list_board_views',
    may: 'missions.read',
    mcp: 'control',
    summary: 'List the saved views of the board',
    http: 'GET /api/board/views',
    input: z.object({}),
    output: Views,
    run: async ({ fleet }) => ({ views: await boardViews(fleet) }),
  }),
  command({
    name: 'save_board_view',
    may: 'missions.run',
    mcp: 'control',
    summary: 'Save filters of the board under a name; a view of that name is replaced',
    http: 'PUT /api/board/views',
    input: BoardView,
    output: Views,
    run: async (context, view) => ({
      views: await saveBoardView(context.fleet, ask(context, 'save_board_view'), view),
    }),
  }),
  command({
    name: 'delete_board_view',
    may: 'missions.run',
    mcp: 'control',
    summary: 'Delete a saved view of the board',
    http: 'DELETE /api/board/views/:name',
    input: BoardView.pick({ name: true }),
    output: Views,
    run: async (context, { name }) => ({
      views: await deleteBoardView(context.fleet, ask(context, 'delete_board_view'), name),
    }),
  }),
]
