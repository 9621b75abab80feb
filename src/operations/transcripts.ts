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
const raw = z.boolean().default(false).describe('each line as it was printed, not parsed')
const max_chars = z
  .number()
  .int()
  .min(1000)
  .max(8 * 1024 * 1024)
  .default(16_384)
  .describe('how much of each text of an event is shown; longer texts are marked as cut')

const Range = {
  after: Cursor.optional().describe('from this position on; absent: from the beginning'),
  before: Cursor.optional().describe('what ends at this position'),
  last: z.boolean().default(false).describe('what ends at the current end'),
}
const Looked = {
  start: z.string().describe('the position before what was read: pass it as `before` to read backwards'),
  cursor: z.string().describe('the position after it: pass it as `after`, also to stream_session, to continue'),
  more: z.boolean().describe('whether there may be more in the direction of reading'),
}

export const transcripts = [
  stream({
    name: 'stream_session',
    may: 'transcripts.read',
    // A tool answers once, and read_transcript returns the same page by page.
    mcp: false,
    summary: "Follow a session's transcript, from its beginning or from a cursor",
    http: 'GET /api/sessions/:session_id/stream',
    input: WithSession.extend({
      after: Cursor.optional(),
      follow: z.boolean().default(true).describe('false: return what is there now, then stop'),
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
    may: 'transcripts.read',
    mcp: 'history',
    summary: "Read a page of a session's transcript, forwards or backwards from any position",
    http: 'GET /api/sessions/:session_id/transcript',
    input: WithSession.extend({ ...Range, limit: Paging.limit, max_chars, raw }),
    output: z.object({
      events: z.array(TranscriptEvent).describe('oldest first; fewer than requested if many lines are not events'),
      ...Looked,
    }),
    agentMay: ownSession,
    run: async ({ fleet }, { session_id, max_chars: maxChars, ...page }) =>
      transcriptPage(fleet, (await lookUp(fleet, 'sessions', session_id)).value.id, { ...page, maxChars }),
  }),
  query({
    name: 'read_transcript_event',
    may: 'transcripts.read',
    mcp: 'history',
    summary: 'Read the full text of an event that is shown cut',
    http: 'GET /api/sessions/:session_id/transcript/events/:event_id',
    input: WithSession.extend({ event_id: z.string().max(60), raw }),
    output: z.object({ event_id: z.string(), stream: Stream, event: AgentEvent }),
    agentMay: ownSession,
    run: async ({ fleet }, { session_id, event_id, raw }) =>
      transcriptEvent(fleet, (await lookUp(fleet, 'sessions', session_id)).value.id, event_id, raw),
  }),
  query({
    name: 'search_transcript',
    may: 'transcripts.read',
    mcp: 'history',
    summary: "Search a session's transcript for words or failures; with a limit of 1, the next or previous one",
    http: 'GET /api/sessions/:session_id/transcript/search',
    input: WithSession.extend({
      text: z.string().min(1).max(500).optional().describe('the exact text; upper and lower case are the same'),
      only: z.enum(['errors']).optional().describe('errors, failed tools, refusals and failed turns'),
      ...Range,
      limit: Paging.limit,
      raw,
    }),
    output: z.object({
      matches: z
        .array(
          z.object({
            event_id: z.string(),
            start: z.string().describe('the position before the event'),
            cursor: z.string().describe('the position after it'),
            type: z.string(),
            at: z.string().nullable(),
            stream: Stream,
            snippet: z.string(),
            marked: z
              .object({ from: z.number(), length: z.number() })
              .nullable()
              .describe('where the match is in the snippet'),
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
