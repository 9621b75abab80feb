import * as z from 'zod'
import { WrongState } from '../domain/errors.ts'
import { Report } from '../domain/records/report.ts'
import { Outcome } from '../domain/records/session.ts'
import { MAX_REASON_CHARS } from '../domain/text.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { cancelMission } from '../fleet/missions/missions.ts'
import { current, lookUp, newestReport } from '../fleet/records.ts'
import { ask, Paging, ProjectRef, Ref } from './inputs.ts'
import { type Caller, command, query } from './operation.ts'
import { SessionView, sessionView } from './views.ts'

const WithSession = z.object({ session_id: Ref })
const CancelReason = z.string().max(MAX_REASON_CHARS).optional().describe('why, as the mission then says')
const ownSession = (caller: Extract<Caller, { kind: 'session' }>, input: { session_id: string }): boolean =>
  caller.session_id === input.session_id

export const sessions = [
  query({
    name: 'list_sessions',
    summary: 'List sessions, newest first',
    http: 'GET /api/sessions',
    input: z.object({
      mission_id: Ref.optional(),
      project_id: ProjectRef.optional(),
      live: z.boolean().default(false).describe('only those that have not ended'),
      outcome: Outcome.optional().describe(
        'only those that ended so; a page may then hold fewer, or none, and still have a cursor',
      ),
      ...Paging,
    }),
    output: z.object({ sessions: z.array(SessionView), cursor: z.string().optional() }),
    run: async ({ fleet }, { live, outcome, limit, cursor, ...of }) => {
      const place = await indexFor(fleet, of)
      const where = live ? { index: 'live' } : place
      const page = await fleet.store.find('sessions', { ...where, newestFirst: true, limit, cursor })
      const [wanted] = place.equals ?? []
      const sessions = page.items
        .map(item => item.value)
        .filter(each => !outcome || each.outcome === outcome)
        .filter(each => !wanted || each.mission_id === wanted || each.project_id === wanted)
      return { sessions: sessions.map(sessionView), cursor: page.cursor }
    },
  }),
  query({
    name: 'get_session',
    summary: 'Show one run of an agent',
    http: 'GET /api/sessions/:session_id',
    input: WithSession,
    output: SessionView.extend({ prompt: z.string().nullable().describe('all that the agent was told at the start') }),
    agentMay: ownSession,
    run: async ({ fleet }, { session_id }) => {
      const { value } = await lookUp(fleet, 'sessions', session_id)
      return { ...sessionView(value), prompt: value.prompt && (await fleet.blobs.read(value.prompt)) }
    },
  }),
  command({
    name: 'cancel_session',
    summary: "Stop a session, and its mission with it; the work is kept on the mission's branch",
    http: 'POST /api/sessions/:session_id/cancel',
    needsFleet: true,
    input: WithSession.extend({ reason: CancelReason }),
    output: SessionView,
    run: async (context, { session_id, reason }) => {
      const { value } = await lookUp(context.fleet, 'sessions', session_id)
      if (value.status === 'ended') throw new WrongState('Session', value.id, 'ended', ['starting', 'running'])
      await cancelMission(context.fleet, ask(context, 'cancel_session'), value.mission_id, reason)
      return sessionView((await current(context.fleet, 'sessions', value.id)).value)
    },
  }),
  query({
    name: 'list_reports',
    summary: 'List reports, newest first',
    http: 'GET /api/reports',
    input: z.object({ mission_id: Ref.optional(), project_id: ProjectRef.optional(), ...Paging }),
    output: z.object({
      reports: z.array(Report.extend({ mission_title: z.string().describe('empty: the mission was deleted') })),
      cursor: z.string().optional(),
    }),
    run: async ({ fleet }, input) => {
      const page = await fleet.store.find('reports', {
        ...(await indexFor(fleet, input)),
        newestFirst: true,
        limit: input.limit,
        cursor: input.cursor,
      })
      const reports = page.items.map(async ({ value }) => {
        const mission = await fleet.store.get('missions', value.mission_id)
        return { ...value, mission_title: mission?.value.title ?? '' }
      })
      return { reports: await Promise.all(reports), cursor: page.cursor }
    },
  }),
  query({
    name: 'get_report',
    summary: "Show a report, by its id or by its mission's",
    http: 'GET /api/reports/:report_id',
    input: z.object({ report_id: Ref }),
    output: Report,
    run: async ({ fleet }, { report_id }) => {
      const mission = await fleet.store.get('missions', report_id)
      const newest = mission && (await newestReport(fleet, report_id))
      return newest ?? (await lookUp(fleet, 'reports', report_id)).value
    },
  }),
]

async function indexFor(
  fleet: Fleet,
  input: { mission_id?: string; project_id?: string },
): Promise<{ index: string; equals?: string[] }> {
  if (input.mission_id)
    return { index: 'mission', equals: [(await lookUp(fleet, 'missions', input.mission_id)).value.id] }
  if (input.project_id)
    return { index: 'project', equals: [(await lookUp(fleet, 'projects', input.project_id)).value.id] }
  return { index: 'created' }
}
