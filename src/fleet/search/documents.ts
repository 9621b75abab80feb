import { createHash } from 'node:crypto'
import { setImmediate as breath } from 'node:timers/promises'
import type { Mission } from '../../domain/records/mission.ts'
import { CLAIMED_LISTS, type Report } from '../../domain/records/report.ts'
import type { Session } from '../../domain/records/session.ts'
import type { AgentEvent } from '../../domain/records/transcript.ts'
import { headOf } from '../../domain/text.ts'
import { newestLaunch } from '../../platform/launch-folder.ts'
import { safe } from '../../platform/safe-text.ts'
import type { TextDocument, TextSource } from '../../store/index.ts'
import { localTranscript, START } from '../../transcripts/index.ts'
import type { Fleet } from '../fleet.ts'
import { all } from '../records.ts'
import { behind, cursorOf, eventsIn, positionAt } from '../transcripts/positions.ts'
import { textsIn } from '../transcripts/transcripts.ts'
import { spoken } from './spoken.ts'

/** How much of one text can be found, such as a prompt or the output of a tool. */
const PROMPT_CHARS = 50_000
const EVENT_CHARS = 2000
/** How much of a transcript can be found, and how much of it is read for that. */
const SESSION_CHARS = 200_000
const SCAN_BYTES = 8 * 1024 * 1024
const BREATH_BYTES = 128 * 1024
/** Lines of a script stand together up to this length, so that not every line is a text of its own. */
const TOGETHER_CHARS = 1000

/** A mission with its comments and reports. */
export async function missionSource(fleet: Fleet, mission: Mission): Promise<TextSource> {
  const of = { project_id: mission.project_id, mission_id: mission.id }
  const prompt = await fleet.blobs.read(mission.prompt).catch(() => headOf(mission.prompt))
  const documents: TextDocument[] = [
    {
      ...{ ...of, kind: 'mission', session_id: null, place: mission.id, part: 'prompt', at: mission.created_at },
      title: textOf(mission.title),
      body: textOf([prompt.slice(0, PROMPT_CHARS), ...mission.tags].join('\n')),
    },
  ]
  for await (const { value } of all(fleet, 'comments', 'mission', [mission.id]))
    documents.push({
      ...{ ...of, kind: 'comment', session_id: value.session_id, place: value.id, part: 'comment', title: '' },
      ...{ at: value.created_at, body: textOf(value.body) },
    })
  for await (const { value } of all(fleet, 'reports', 'mission', [mission.id]))
    documents.push({
      ...{ ...of, kind: 'report', session_id: value.session_id, place: value.id, part: 'report', title: '' },
      ...{ at: value.created_at, body: textOf(textsOfReport(value).join('\n')) },
    })
  return { source: `missions/${mission.id}`, fingerprint: hashOf(documents), documents }
}

const textsOfReport = (report: Report): string[] => [
  spoken(report.summary),
  ...CLAIMED_LISTS.flatMap(name => report[name]),
  ...report.tests.flatMap(({ command, details }) => [command ?? '', details]),
  ...report.commits.map(({ subject }) => subject),
  ...report.files_changed.map(({ path }) => path),
]

/** The transcript of an ended session never changes. */
export const sessionFingerprint = ({ ended_at }: Session): string => ended_at ?? 'ended'

/** The transcript of an ended session, up to a limit. */
export async function sessionSource(fleet: Fleet, session: Session): Promise<TextSource> {
  const documents: TextDocument[] = []
  const directory = newestLaunch(fleet.home.session(session.id), 'agent')
  if (directory) for await (const each of documentsIn(fleet, session, directory)) documents.push(each)
  return { source: `sessions/${session.id}`, fingerprint: sessionFingerprint(session), documents }
}

async function* documentsIn(fleet: Fleet, session: Session, directory: string): AsyncGenerator<TextDocument> {
  const agent = fleet.agents.ofSession(session.agent)
  const { project_id, mission_id, id: session_id, created_at } = session
  let position = positionAt(directory, START)
  let open: TextDocument | undefined
  let left = SESSION_CHARS
  let scanned = 0
  let breathAt = BREATH_BYTES
  for await (const lines of localTranscript(directory).read(START, true))
    for (const line of lines) {
      for (const { event, to } of eventsIn(agent, line, position, false)) {
        const said = SEARCHED.has(event.type) ? textOf(textsOfEvent(event)) : ''
        if (!said) continue
        left -= said.length
        if (open && continues(open, event)) open.body += `${separator(event)}${said}`
        else {
          if (open) yield open
          open = {
            ...{ kind: 'transcript', project_id, mission_id, session_id, place: cursorOf(to), part: event.type },
            ...{ at: line.at ?? session.started_at ?? created_at, title: '', body: said },
          }
        }
      }
      position = behind(line, position)
      scanned += line.text.length
      if (left <= 0 || scanned >= SCAN_BYTES) {
        if (open) yield open
        return
      }
      if (scanned >= breathAt) {
        breathAt = scanned + BREATH_BYTES
        await breath()
      }
    }
  if (open) yield open
}

/** What agents and people say, commands, and what tools answer. */
const SEARCHED: ReadonlySet<AgentEvent['type']> = new Set([
  ...(['text', 'tool_call', 'tool_result', 'said', 'question', 'permission'] as const),
  ...(['error', 'warning', 'rate_limit', 'raw'] as const),
])

/** A client may report one message in many pieces, and a script prints one line at a time. */
const continues = ({ part, body }: TextDocument, event: AgentEvent): boolean =>
  part === event.type &&
  body.length < TOGETHER_CHARS &&
  (event.type === 'raw' || ('piece' in event && event.piece === true))

const separator = ({ type }: AgentEvent): string => (type === 'raw' ? '\n' : '')

function textsOfEvent(event: AgentEvent): string {
  let text = ''
  for (const each of textsIn(event)) {
    const said = event.type === 'text' ? spoken(each) : each
    text += text ? `\n${said}` : said
    if (text.length >= EVENT_CHARS) break
  }
  return text.slice(0, EVENT_CHARS)
}

/** Without sequences for terminals and without controls, which mark the words of a hit. */
const textOf = (text: string): string =>
  safe(text.toWellFormed())
    .replace(/[\u2400-\u2421]/g, ' ')
    .trim()

const hashOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('base64url')
