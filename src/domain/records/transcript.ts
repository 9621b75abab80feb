import * as z from 'zod'
import { Outcome, Usage } from './session.ts'

/** The change of a file: its old and new text if the agent gives both, or a diff. */
export const Edit = z.object({
  path: z.string().describe('as the agent names it'),
  old_text: z.string().nullable().describe('the part that is replaced; empty: the agent does not say'),
  new_text: z
    .string()
    .nullable()
    .describe('the new text of that part, or the whole file; empty: the agent gives a diff'),
  diff: z.string().nullable().describe('a unified diff, with or without its header'),
})
export type Edit = z.infer<typeof Edit>

const Figures = z.object(
  Object.fromEntries(Object.keys(Usage.shape).map(name => [name, z.number().optional()])) as Record<
    keyof Usage,
    z.ZodOptional<z.ZodNumber>
  >,
)
const edits = z.array(Edit).optional().describe('the files it changes, if the agent says')
const within = z.string().optional().describe('the tool call of the helper in which this happened')
const piece = z.literal(true).optional().describe('it continues the text of the event before it')

const kind = <T extends string, S extends z.ZodRawShape>(type: T, about: string, shape: S) =>
  z.object({ type: z.literal(type), ...shape }).describe(about)

/** The common form of all transcripts: what an adapter makes of the lines of its client. */
export const AgentEvent = z.discriminatedUnion('type', [
  kind('started', 'A turn begins', { conversation: z.string().nullable(), model: z.string().nullable() }),
  kind('text', 'The agent says something', { text: z.string(), piece, within }),
  kind('thinking', 'The agent thinks aloud', { text: z.string(), piece, within }),
  kind('tool_call', 'The agent uses a tool', {
    id: z.string().describe('its result has the same id'),
    name: z.string(),
    input: z.unknown(),
    edits,
    again: z.literal(true).optional().describe('more is known about a call that was reported before'),
    within,
  }),
  kind('tool_result', 'A tool has answered', {
    id: z.string().describe('the id of the call'),
    output: z.string(),
    failed: z.boolean(),
    edits,
    within,
  }),
  kind('usage', 'What was used', {
    usage: Figures,
    counts: z
      .enum(['more', 'total', 'estimate'])
      .describe(
        'more: add it to the sum; total: all since the beginning; estimate: counts until the next `more` or `total`',
      ),
    of: z.string().optional().describe('what the estimate is about; a later estimate with the same key replaces it'),
    model: z.string().optional(),
    meter: z
      .string()
      .optional()
      .describe('one of several ways in which the client reports the same usage; the highest counts'),
  }),
  kind('context', 'How full the context window is', {
    used: z.number().nullable().describe('tokens; empty: not reported this time'),
    window: z.number().nullable(),
    model: z.string().optional(),
  }),
  kind('provider_window', 'How much of a quota of the provider is used up', {
    name: z.string(),
    used_percent: z.number(),
    resets_at: z.string().nullable(),
  }),
  kind('retry', 'The provider refused or did not answer, and the client tries again', {
    attempt: z.number(),
    of: z.number().nullable(),
    why: z.string(),
    status: z.number().optional().describe('the HTTP status of the provider'),
    wait_seconds: z.number().optional().describe('until the next try'),
    again: z.literal(true).optional().describe('more is known about a try that was reported before'),
  }),
  kind('rate_limit', 'The provider refuses for a while', { until: z.string().nullable(), text: z.string() }),
  kind('permission', 'The agent asks for permission to use a tool, or was denied it', {
    id: z.string(),
    tool: z.string(),
    input: z.unknown(),
    edits,
    call: z.string().optional().describe('the id of the call it is about'),
    denied: z.boolean(),
  }),
  kind('question', 'The agent asks a person', { id: z.string(), text: z.string() }),
  kind('said', 'What the agent was told', { id: z.string(), text: z.string() }),
  kind('interrupted', 'A person interrupted the agent', { id: z.string() }),
  kind('result', 'A turn is over', { ok: z.boolean(), text: z.string(), reason: z.string().nullable() }),
  kind('error', 'Something failed', { text: z.string() }),
  kind('warning', 'Something is wrong, but the agent continues', { text: z.string() }),
  kind('raw', 'A line that is not an event', { text: z.string() }),
])
export type AgentEvent = z.infer<typeof AgentEvent>

/** `sent`: what we sent to the agent's standard input. */
export const Stream = z.enum(['stdout', 'stderr', 'sent'])
export type Stream = z.infer<typeof Stream>

export const TranscriptPlace = z.object({
  event_id: z.string().describe('stays the same whichever way the transcript is read'),
  cursor: z.string().describe('the position after it: `after` continues from there, `before` ends with it'),
  at: z.string().nullable().describe('when it arrived; empty: no server ran at that time'),
  stream: Stream,
  cut: z.literal(true).optional().describe('its texts are cut here; `read_transcript_event` gives all of them'),
})

/** An event of a transcript, and its position. */
export type TranscriptEvent = AgentEvent & z.infer<typeof TranscriptPlace>
export const TranscriptEvent = z.discriminatedUnion(
  'type',
  AgentEvent.options.map(option => option.extend(TranscriptPlace.shape).describe(option.description!)) as never,
) as unknown as z.ZodType<TranscriptEvent, TranscriptEvent>

/** The last thing that `stream_session` says. */
export const TranscriptEnd = z.object({ outcome: Outcome.nullable(), outcome_reason: z.string().nullable() })
export type TranscriptEnd = z.infer<typeof TranscriptEnd>

/** Whether a person who looks for errors wants to see it. */
export function isError(event: AgentEvent): boolean {
  switch (event.type) {
    case 'error':
    case 'rate_limit':
      return true
    case 'tool_result':
      return event.failed
    case 'result':
      return !event.ok
    default:
      return false
  }
}
