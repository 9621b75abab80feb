import { NotFound } from '../../domain/errors.ts'
import type { Report } from '../../domain/records/report.ts'
import { clipped } from '../../domain/text.ts'
import type { Ask } from '../../operations/aliases/index.ts'
import type { MissionView, SessionView } from '../../operations/views.ts'
import { completionsOf } from './completions.ts'
import type { Listed, Resource } from './offer.ts'

const PAGE = 50
const TRANSCRIPT_EVENTS = 200
const DIFF_CHARS = 100_000
const ARTIFACT_BYTES = 100_000

const missionUri = (id: string): string => `fleet://missions/${id}`
const transcriptUri = (id: string): string => `fleet://sessions/${id}/transcript`
const json = (value: unknown): string => JSON.stringify(value, null, 2)

/** What a client may read without calling a tool. Everything is found page by page. */
export function outsideResources(ask: Ask): Resource[] {
  /** A list operation as pages of addresses. */
  const pages =
    <T>(operation: string, field: string, listed: (item: T) => Listed): Resource['list'] =>
    async (_, cursor) => {
      const page = await ask<Record<string, unknown>>(operation, { limit: PAGE, cursor })
      return { items: (page[field] as T[]).map(listed), cursor: page.cursor as string | undefined }
    }
  const { missions, sessions } = completionsOf(ask)
  const ofMission = { complete: { mission_id: missions } }
  return [
    {
      uri: missionUri('{mission_id}'),
      ...ofMission,
      name: 'mission',
      summary: 'A mission with its sessions, report, evidence, children and comments',
      mimeType: 'application/json',
      list: pages<MissionView>('list_missions', 'missions', ({ id, title, status }) => ({
        uri: missionUri(id),
        name: title,
        description: status,
      })),
      read: async (_, { mission_id }) => json(await ask('get_mission', { mission_id })),
    },
    {
      uri: `${missionUri('{mission_id}')}/report`,
      ...ofMission,
      name: 'report',
      summary: 'What the newest session of a mission did',
      mimeType: 'application/json',
      list: pages<Report>('list_reports', 'reports', ({ mission_id, summary }) => ({
        uri: `${missionUri(mission_id)}/report`,
        name: clipped(summary.split('\n')[0] || 'a report', 100),
      })),
      read: async (_, { mission_id }) => {
        const { report } = await ask<{ report: Report | null }>('get_mission', { mission_id })
        if (!report) throw new NotFound('report of mission', mission_id!, { try: 'Wait until it is over.' })
        return json(report)
      },
    },
    {
      uri: `${missionUri('{mission_id}')}/diff{?offset}`,
      ...ofMission,
      name: 'diff',
      summary: 'What a mission changed, as a patch; a long one says where it continues',
      mimeType: 'text/x-diff',
      read: async (_, { mission_id, offset }) => {
        const { text } = await ask<{ text: string }>('diff_mission', { mission_id })
        const from = Number.parseInt(offset ?? '0', 10) || 0
        const end = from + DIFF_CHARS
        const more = text.length > end ? `\n… goes on at ${missionUri(mission_id!)}/diff?offset=${end}\n` : ''
        return text.slice(from, end) + more
      },
    },
    {
      uri: `${missionUri('{mission_id}')}/notes`,
      ...ofMission,
      name: 'notes',
      summary: 'What a mission remembers: plan, knowledge, questions with their answers, artifacts',
      mimeType: 'application/json',
      read: async (_, { mission_id }) => json(await ask('get_mission_notes', { mission_id })),
    },
    {
      uri: `${missionUri('{mission_id}')}/artifact{?path,offset}`,
      ...ofMission,
      name: 'artifact',
      summary:
        'A file that the agents of a mission left behind, named as its notes list it; a long one continues at next_offset',
      mimeType: 'application/json',
      read: async (_, { mission_id, path, offset }) =>
        json(
          await ask('read_artifact', {
            ...{ mission_id, path },
            ...{ offset: Number.parseInt(offset ?? '0', 10) || 0, limit: ARTIFACT_BYTES },
          }),
        ),
    },
    {
      uri: `${transcriptUri('{session_id}')}{?after}`,
      complete: { session_id: sessions },
      name: 'transcript',
      summary: 'What an agent said and did in one session, one event per line; a long one says where it continues',
      mimeType: 'application/jsonl',
      list: pages<SessionView>('list_sessions', 'sessions', ({ id, agent, status, mission_id }) => ({
        uri: transcriptUri(id),
        name: `${agent} on mission ${mission_id}`,
        description: status,
      })),
      read: async (_, { session_id, after }) => {
        const page = await ask<{ events: object[]; cursor: string; more: boolean }>('read_transcript', {
          session_id,
          after,
          limit: TRANSCRIPT_EVENTS,
        })
        const next = page.more
          ? [{ goes_on_at: `${transcriptUri(session_id!)}?after=${encodeURIComponent(page.cursor)}` }]
          : []
        return [...page.events, ...next].map(event => `${JSON.stringify(event)}\n`).join('')
      },
    },
  ]
}
