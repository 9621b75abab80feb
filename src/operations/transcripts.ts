import * as z from 'zod'
import { AgentEvent, Stream, TranscriptEnd, TranscriptEvent } from '../domain/records/transcript.ts'
import { lookUp } from '../fleet/records.ts'
import { followSession } from '../fleet/transcripts/follow.ts'
import { searchTranscript, transcriptEvent, transcriptPage } from '../fleet/transcripts/transcripts.ts'
import { Paging, Ref } from './inputs.ts'
import { type Caller, query, stream } from './operation.ts'

const WithSession = z.object({ session_id: Ref })
const ownSession = (caller: Extract<Caller, { kind: 'session' }>, input: { session_id: string }): boolean =>
  caller.session_id === input.session_id

const Cursor = z.string().max(120)
const raw = z.boolean().default(false).describe('each line as it was printed, instead of what it means')
const max_chars = z
  .number()
  .int()
  .min(1000)
  .max(8 * 1024 * 1024)
  .default(16_384)
  .describe('how much of each text of an event is shown; what is longer is marked as cut')

const Range = {
  after: Cursor.optional().describe('from this place on; absent: from the beginning'),
  before: Cursor.optional().describe('what ends at this place, instead of what begins there'),
  last: z.boolean().default(false).describe('what ends at the end, as it is now'),
}
const Looked = {
  start: z.string().describe('the place in front of what was read: `before` goes on backwards from there'),
  cursor: z.string().describe('the place behind it: `after`, also of stream_session, goes on from there'),
  more: z.boolean().describe('whether there may be more in the direction it was read'),
}

export const transcripts = [
  stream({
    name: 'stream_session',
    summary: "Follow a session's transcript, from its beginning or from a cursor",
    http: 'GET /api/sessions/:session_id/stream',
    input: WithSession.extend({
      after: Cursor.optional(),
      follow: z.boolean().default(true).describe('false: what is there now, then stop'),
      max_chars,
      raw,
    }),
    output: z.union([TranscriptEvent, TranscriptEnd, z.object({})]),
    agentMay: ownSession,
    run: async function* ({ fleet, signal }, { session_id, max_chars: maxChars, ...following }) {
      const { value } = await lookUp(fleet, 'sessions', session_id)
      yield* followSession(fleet, value.id, { ...following, maxChars, signal })
    },
  }),
  query({
    name: 'read_transcript',
    summary: "Read a page of a session's transcript, forwards or backwards from any place in it",
    http: 'GET /api/sessions/:session_id/transcript',
    input: WithSession.extend({ ...Range, limit: Paging.limit, max_chars, raw }),
    output: z.object({
      events: z.array(TranscriptEvent).describe('oldest first; fewer than asked for where much of it is no event'),
      ...Looked,
    }),
    agentMay: ownSession,
    run: async ({ fleet }, { session_id, max_chars: maxChars, ...page }) =>
      transcriptPage(fleet, (await lookUp(fleet, 'sessions', session_id)).value.id, { ...page, maxChars }),
  }),
  query({
    name: 'read_transcript_event',
    summary: 'Read all of one event that is shown cut',
    http: 'GET /api/sessions/:session_id/transcript/events/:event_id',
    input: WithSession.extend({ event_id: z.string().max(60), raw }),
    output: z.object({ event_id: z.string(), stream: Stream, event: AgentEvent }),
    agentMay: ownSession,
    run: async ({ fleet }, { session_id, event_id, raw }) =>
      transcriptEvent(fleet, (await lookUp(fleet, 'sessions', session_id)).value.id, event_id, raw),
  }),
  query({
    name: 'search_transcript',
    summary: "Find words, or what failed, in a session's transcript; with a limit of 1, the next or the one before",
    http: 'GET /api/sessions/:session_id/transcript/search',
    input: WithSession.extend({
      text: z.string().min(1).max(500).optional().describe('as it stands there; large and small letters are the same'),
      only: z.enum(['errors']).optional().describe('errors, failed tools, refusals and turns that failed'),
      ...Range,
      limit: Paging.limit,
      raw,
    }),
    output: z.object({
      matches: z
        .array(
          z.object({
            event_id: z.string(),
            start: z.string().describe('the place in front of the event'),
            cursor: z.string().describe('the place behind it'),
            type: z.string(),
            at: z.string().nullable(),
            stream: Stream,
            snippet: z.string(),
            marked: z
              .object({ from: z.number(), length: z.number() })
              .nullable()
              .describe('where in the snippet what was looked for is'),
          }),
        )
        .describe('oldest first'),
      ...Looked,
    }),
    agentMay: ownSession,
    run: async ({ fleet }, { session_id, ...search }) =>
      searchTranscript(fleet, (await lookUp(fleet, 'sessions', session_id)).value.id, search),
  }),
]
