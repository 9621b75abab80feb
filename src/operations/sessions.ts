import * as z from 'zod'
import { WrongState } from '../domain/errors.ts'
import { Timestamp } from '../domain/ids.ts'
import { Report } from '../domain/records/report.ts'
import { Outcome } from '../domain/records/session.ts'
import { MAX_REASON_CHARS } from '../domain/text.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { claimHost } from '../fleet/hosts/claim.ts'
import { requestCancel } from '../fleet/missions/missions.ts'
import { current, lookUp, newestReport } from '../fleet/records.ts'
import { ask, Paging, ProjectRef, Ref } from './inputs.ts'
import { type Caller, command, query } from './operation.ts'
import { SessionView, sessionView } from './views.ts'

const WithSession = z.object({ session_id: Ref })
const CancelReason = z.string().max(MAX_REASON_CHARS).optional().describe('the reason, shown on the mission')
const ownSession = (caller: Extract<Caller, { kind: 'session' }>, input: { session_id: string }): boolean =>
  caller.session_id === input.session_id

export const sessions = [
  query({
    name: 'list_sessions',
    may: 'missions.read',
    mcp: 'control',
    summary: 'List sessions, newest first',
    http: 'GET /api/sessions',
    input: z.object({
      mission_id: Ref.optional(),
      project_id: ProjectRef.optional(),
      live: z.boolean().default(false).describe('only those that have not ended'),
      outcome: Outcome.optional().describe(
        'only those with this outcome; a page may then have fewer, or none, and still have a cursor',
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
      return { sessions: sessions.map(each => sessionView(fleet, each)), cursor: page.cursor }
    },
  }),
  query({
    name: 'get_session',
    may: 'missions.read',
    mcp: 'control',
    summary: 'Show a session',
    http: 'GET /api/sessions/:session_id',
    input: WithSession,
    output: SessionView.extend({ prompt: z.string().nullable().describe('the whole prompt the agent started with') }),
    agentMay: ownSession,
    run: async ({ fleet }, { session_id }) => {
      const { value } = await lookUp(fleet, 'sessions', session_id)
      return { ...sessionView(fleet, value), prompt: value.prompt && (await fleet.blobs.read(value.prompt)) }
    },
  }),
  command({
    name: 'cancel_session',
    may: 'missions.run',
    mcp: 'control',
    summary: "Cancel a session and its mission; the work is kept on the mission's branch",
    http: 'POST /api/sessions/:session_id/cancel',
    needsFleet: true,
    input: WithSession.extend({ reason: CancelReason }),
    output: SessionView,
    run: async (context, { session_id, reason }) => {
      const { value } = await lookUp(context.fleet, 'sessions', session_id)
      if (value.status === 'ended') throw new WrongState('Session', value.id, 'ended', ['starting', 'running'])
      await requestCancel(context.fleet, ask(context, 'cancel_session'), value.mission_id, reason)
      return sessionView(context.fleet, (await current(context.fleet, 'sessions', value.id)).value)
    },
  }),
  command({
    name: 'claim_host',
    may: 'system.operate',
    mcp: 'system',
    summary: 'Claim what ran on a host that is gone for good: this machine continues it, or ends it',
    http: 'POST /api/hosts/:host/claim',
    input: z.object({ host: z.string().min(1).max(60).describe('as its sessions name it') }),
    output: z.object({
      sessions: z.array(z.string()).describe('sessions that now belong to this machine, in a new generation'),
      processes: z.array(z.string()).describe('previews and remote controls'),
      terminals: z.array(z.string()).describe('missions that a person had taken over there'),
    }),
    run: (context, { host }) => claimHost(context.fleet, ask(context, 'claim_host'), host),
  }),
  query({
    name: 'list_reports',
    may: 'reports.read',
    mcp: 'history',
    summary: 'List reports, newest first',
    http: 'GET /api/reports',
    input: z.object({
      mission_id: Ref.optional(),
      project_id: ProjectRef.optional(),
      status: Report.shape.status.unwrap().optional().describe('only those of sessions that ended like this'),
      from: Timestamp.optional().describe('only those written at this time or later'),
      before: Timestamp.optional().describe('only those written before this time'),
      ...Paging,
    }),
    output: z.object({
      reports: z
        .array(Report.extend({ mission_title: z.string().describe('empty: the mission was deleted') }))
        .describe('with a status, may be fewer than requested although there are more'),
      cursor: z.string().optional(),
    }),
    run: async ({ fleet }, input) => {
      const page = await reportsLike(fleet, input)
      const reports = page.reports.map(async report => {
        const mission = await fleet.store.get('missions', report.mission_id)
        return { ...report, mission_title: mission?.value.title ?? '' }
      })
      return { reports: await Promise.all(reports), cursor: page.cursor }
    },
  }),
  query({
    name: 'get_report',
    may: 'reports.read',
    mcp: { set: 'history', name: 'get_report_by_id' },
    summary: "Show a report, by its id or its mission's id",
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

/** How many reports one call reads to find those with a status. */
const MOST_LOOKED_AT = 1000

interface ReportFilter {
  mission_id?: string
  project_id?: string
  status?: Report['status']
  from?: string
  before?: string
  limit: number
  cursor?: string
}

/** The newest first. No index knows the status. */
async function reportsLike(fleet: Fleet, input: ReportFilter): Promise<{ reports: Report[]; cursor?: string }> {
  const range = { ...(await indexFor(fleet, input)), from: input.from, below: input.before, newestFirst: true }
  const reports: Report[] = []
  let { cursor } = input
  for (let looked = 0; looked < MOST_LOOKED_AT; ) {
    const page = await fleet.store.find('reports', { ...range, limit: input.limit - reports.length, cursor })
    reports.push(...page.items.flatMap(({ value }) => (!input.status || value.status === input.status ? [value] : [])))
    looked += page.items.length
    cursor = page.cursor
    if (!cursor || reports.length >= input.limit) break
  }
  return { reports, cursor }
}

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
