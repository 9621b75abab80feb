import type { Session } from '../../domain/records/session.ts'
import { describeReport } from '../../domain/rules/prompt.ts'
import { CONTINUES } from '../dispatch/next-session.ts'
import type { Fleet } from '../fleet.ts'

const NEWEST_REPORTS = 5

/**
 * What a session that does not remember the one before is told about it, besides the notes of the mission: its report,
 * written by the agent or taken from its last words, with what git saw.
 */
export async function writtenHandOver(fleet: Fleet, session: Session): Promise<string> {
  if (!CONTINUES.includes(session.reason) || session.resumes !== null) return ''
  const query = { index: 'mission', equals: [session.mission_id], newestFirst: true, limit: NEWEST_REPORTS }
  const reports = (await fleet.store.find('reports', query)).items.map(({ value }) => value)
  // A session that never began has no summary.
  const report = reports.find(({ summary }) => summary) ?? reports[0]
  return report ? describeReport(report) : ''
}

const ENDED_BADLY: readonly (Session['outcome'] | undefined)[] = ['failed', 'stalled', 'lost']

/** What a member hears of the end of its session before, if that ended badly. */
export async function whyRestarted(fleet: Fleet, { mission_id, member_id, number }: Session): Promise<string> {
  const before = member_id && number > 1 ? await sessionBefore(fleet, { mission_id, number }) : undefined
  if (!before || before.member_id !== member_id || !ENDED_BADLY.includes(before.outcome)) return ''
  const left = before.end_commit ? ' Your worktree has what it left.' : ''
  return (
    `Your last session at this ended badly: ${before.outcome_reason}${left}\n` +
    'Go on with the same work. If the same thing stops you again, end your turn and say what it is.'
  )
}

/** The session before one of the same mission. */
export async function sessionBefore(
  fleet: Fleet,
  { mission_id, number }: Pick<Session, 'mission_id' | 'number'>,
): Promise<Session | undefined> {
  const query = { index: 'mission', equals: [mission_id], newestFirst: true, limit: NEWEST_REPORTS }
  const { items } = await fleet.store.find('sessions', query)
  return items.find(({ value }) => value.number === number - 1)?.value
}
