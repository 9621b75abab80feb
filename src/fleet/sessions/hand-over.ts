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
