import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describeReport } from '../domain/prompt.ts'
import type { Session } from '../domain/session.ts'
import { clipped } from '../domain/text.ts'
import { readPlain } from '../runner/folders.ts'
import type { Fleet } from './fleet.ts'
import { CONTINUES } from './planning-sessions.ts'

const NEWEST_REPORTS = 5
const MOST_NOTES = 8
const NOTE_BYTES = 256 * 1024
const NOTE_CHARS = 16_000

/**
 * What a session that goes on without the memory of the one before is told of it: its report, written by the agent or
 * from its last words, with what git saw; and the notes it kept in the mission's own folder, such as a plan.
 */
export async function writtenHandOver(fleet: Fleet, session: Session): Promise<string> {
  if (!CONTINUES.includes(session.reason) || session.resumes !== null) return ''
  const query = { index: 'mission', equals: [session.mission_id], newestFirst: true, limit: NEWEST_REPORTS }
  const reports = (await fleet.store.find('reports', query)).items.map(({ value }) => value)
  // A session that never began has nothing to say.
  const report = reports.find(({ summary }) => summary) ?? reports[0]
  return [report && describeReport(report), ...notesIn(fleet.home.task(session.mission_id))]
    .filter(Boolean)
    .join('\n\n')
}

function notesIn(folder: string): string[] {
  const names = entriesOf(folder).filter(name => name.endsWith('.md'))
  return names
    .toSorted()
    .slice(0, MOST_NOTES)
    .flatMap(name => {
      const text = readPlain(join(folder, name), NOTE_BYTES)?.trim()
      return text ? [`### Its notes in ${name}\n\n${clipped(text, NOTE_CHARS)}`] : []
    })
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
