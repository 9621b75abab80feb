import * as z from 'zod'
import { InvalidInput } from '../domain/errors.ts'
import type { Mission } from '../domain/records/mission.ts'
import { Report } from '../domain/records/report.ts'
import { type Session, Usage } from '../domain/records/session.ts'
import { SizedFile } from '../domain/rules/risk.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { shownOf } from '../fleet/landing/candidates.ts'
import { all, current, lookUp } from '../fleet/records.ts'
import { commitsDiff, missionDiff, sessionDiff } from '../fleet/review/diffs.ts'
import { Diff } from './diffs.ts'
import { Ref } from './inputs.ts'
import { query } from './operation.ts'
import { EvidenceView, MissionView, missionDetail, SessionView, sessionView } from './views.ts'

/** One of two sessions of a mission. */
const SessionSide = z.object({
  session: SessionView,
  seconds: z.number(),
  files: z.array(SizedFile),
  diff: z.string().describe('compared with the start of the mission'),
  truncated: z.boolean(),
  evidence: z.array(EvidenceView).describe('the checks that ran on this work'),
  report: Report.nullable(),
})

const NO_DIFF = { text: '', truncated: false, files: [] }

/** One of two missions that are compared. */
const Side = z.object({
  mission: MissionView.omit({ sessions: true }),
  agent: z.string().nullable(),
  sessions: z.number().int(),
  seconds: z.number().describe('how long its sessions took in total'),
  usage: Usage,
  files: z.array(SizedFile),
  diff: z.string(),
  evidence: z.array(EvidenceView),
  summary: z.string(),
  preview_url: z.string().nullable(),
})

async function side(fleet: Fleet, mission: Mission): Promise<z.infer<typeof Side>> {
  const { sessions, report, evidence, children, comments, usage, ...view } = await missionDetail(fleet, mission)
  const { text, files } = await missionDiff(fleet, mission)
  return {
    mission: view,
    agent: sessions.at(-1)?.agent ?? null,
    sessions: sessions.length,
    seconds: sessions.reduce((sum, session) => sum + took(session), 0),
    usage,
    files,
    diff: text,
    evidence,
    summary: report?.summary ?? '',
    preview_url: report?.preview_url ?? null,
  }
}

const took = ({ started_at, ended_at }: Pick<Session, 'started_at' | 'ended_at'>): number =>
  started_at && ended_at ? (Date.parse(ended_at) - Date.parse(started_at)) / 1000 : 0

async function sessionSide(fleet: Fleet, session: Session): Promise<z.infer<typeof SessionSide>> {
  const of = [session.mission_id]
  const [{ text, truncated, files }, sessions, reports, evidence] = await Promise.all([
    session.worktree ? sessionDiff(fleet, session) : NO_DIFF,
    Array.fromAsync(all(fleet, 'sessions', 'mission', of)),
    Array.fromAsync(all(fleet, 'reports', 'mission', of)),
    Array.fromAsync(all(fleet, 'evidence', 'mission', of)),
  ])
  // Checks run on the work of the newest session, so until the next session starts they belong to this one.
  const next = sessions.find(({ value }) => value.number > session.number)?.value.created_at
  const isOfThis = (at: string): boolean => !!session.ended_at && at >= session.ended_at && (!next || at < next)
  return {
    session: sessionView(fleet, session),
    seconds: took(session),
    files,
    diff: text,
    truncated,
    evidence: await Promise.all(
      evidence
        .map(({ value }) => value)
        .filter(({ created_at }) => isOfThis(created_at))
        .map(async ({ output, ...rest }) => ({ ...rest, output: await fleet.blobs.read(output) })),
    ),
    report: reports.find(({ value }) => value.session_id === session.id)?.value ?? null,
  }
}

/** The diff from the work of one mission to that of the other; null: they have no common repository or no work yet. */
async function betweenMissions(fleet: Fleet, one: Mission, two: Mission): Promise<z.infer<typeof Diff> | null> {
  if (one.project_id !== two.project_id) return null
  const { value: project } = await current(fleet, 'projects', one.project_id)
  const [first, second] = await Promise.all([one, two].map(mission => shownOf(project, mission)))
  return first && second ? commitsDiff(project, first.to, second.to) : null
}

/** The diff from the end of one session to the end of the other. */
async function between(fleet: Fleet, first: Session, second: Session): Promise<z.infer<typeof Diff> | null> {
  const { value: project } = await current(fleet, 'projects', first.project_id)
  return first.end_commit && second.end_commit ? commitsDiff(project, first.end_commit, second.end_commit) : null
}

export const comparing = [
  query({
    name: 'compare_missions',
    may: 'missions.read',
    mcp: 'review',
    summary: 'Compare two missions: their changes, checks and costs',
    http: 'GET /api/compare',
    input: z.object({ first: Ref, second: Ref }),
    output: z.object({
      first: Side,
      second: Side,
      between: Diff.nullable().describe(
        'what differs from the work of the first to that of the second, including what landed in between; empty: they have nothing to compare yet',
      ),
    }),
    run: async ({ fleet }, { first, second }) => {
      const [one, two] = await Promise.all(
        [first, second].map(async ref => (await lookUp(fleet, 'missions', ref)).value),
      )
      const [left, right, difference] = await Promise.all([
        side(fleet, one!),
        side(fleet, two!),
        betweenMissions(fleet, one!, two!),
      ])
      return { first: left, second: right, between: difference }
    },
  }),
  query({
    name: 'compare_sessions',
    may: 'missions.read',
    mcp: 'review',
    summary: 'Compare two sessions of one mission: their changes, checks, costs and reports',
    http: 'GET /api/compare/sessions',
    input: z.object({ first: Ref, second: Ref }),
    output: z.object({
      first: SessionSide,
      second: SessionSide,
      between: Diff.nullable().describe(
        'what changed from the end of the first to the end of the second, including what landed in between; empty: one has not ended',
      ),
    }),
    run: async ({ fleet }, { first, second }) => {
      const [{ value: one }, { value: two }] = await Promise.all([
        lookUp(fleet, 'sessions', first),
        lookUp(fleet, 'sessions', second),
      ])
      if (one.mission_id !== two.mission_id)
        throw new InvalidInput('second', `belongs to another mission than ${one.id}`, {
          try: `compare_missions, or fleet compare ${one.mission_id} ${two.mission_id}`,
        })
      const [left, right, difference] = await Promise.all([
        sessionSide(fleet, one),
        sessionSide(fleet, two),
        between(fleet, one, two),
      ])
      return { first: left, second: right, between: difference }
    },
  }),
]
