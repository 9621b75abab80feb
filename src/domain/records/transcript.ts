import * as z from 'zod'
import { Outcome, Usage } from './session.ts'

/** What a file would become, or became: its old and new text where the agent tells them, or what changed between them. */
export const Edit = z.object({
  path: z.string().describe('as the agent names it'),
  old_text: z.string().nullable().describe('the part that is replaced; empty: the agent does not tell'),
  new_text: z.string().nullable().describe('what takes its place, or the whole file; empty: the agent tells a diff'),
  diff: z.string().nullable().describe('as a unified diff, with or without its head'),
})
export type Edit = z.infer<typeof Edit>

const Figures = z.object(
  Object.fromEntries(Object.keys(Usage.shape).map(name => [name, z.number().optional()])) as Record<
    keyof Usage,
    z.ZodOptional<z.ZodNumber>
  >,
)
const edits = z.array(Edit).optional().describe('which files it changes, where the agent tells')
const within = z.string().optional().describe('the tool call of a helper that this happened in')
const piece = z.literal(true).optional().describe('it goes on where the one before it stopped')

const kind = <T extends string, S extends z.ZodRawShape>(type: T, about: string, shape: S) =>
  z.object({ type: z.literal(type), ...shape }).describe(about)

/** The one language all transcripts are read in: what an adapter makes of the lines of its client. */
export const AgentEvent = z.discriminatedUnion('type', [
  kind('started', 'A turn begins', { conversation: z.string().nullable(), model: z.string().nullable() }),
  kind('text', 'The agent says something', { text: z.string(), piece, within }),
  kind('thinking', 'The agent thinks aloud', { text: z.string(), piece, within }),
  kind('tool_call', 'The agent uses a tool', {
    id: z.string().describe('its result names the same'),
    name: z.string(),
    input: z.unknown(),
    edits,
    again: z.literal(true).optional().describe('more is known of a call that was told before'),
    within,
  }),
  kind('tool_result', 'A tool has answered', {
    id: z.string().describe('of the call'),
    output: z.string(),
    failed: z.boolean(),
    edits,
    within,
  }),
  kind('usage', 'What was used', {
    usage: Figures,
    counts: z
      .enum(['more', 'total', 'estimate'])
      .describe('added to what was told before; all since the beginning; or until the next one of these two'),
    of: z
      .string()
      .optional()
      .describe('what the estimate is of: told again, it takes the place of what was told before'),
    model: z.string().optional(),
    meter: z
      .string()
      .optional()
      .describe('one of several ways in which the client tells the same; the highest is right'),
  }),
  kind('context', 'How full the context window is', {
    used: z.number().nullable().describe('tokens; empty: not told this time'),
    window: z.number().nullable(),
    model: z.string().optional(),
  }),
  kind('provider_window', 'How much of what the provider grants in a time is used up', {
    name: z.string(),
    used_percent: z.number(),
    resets_at: z.string().nullable(),
  }),
  kind('retry', 'The provider refused or did not answer, and the client tries again', {
    attempt: z.number(),
    of: z.number().nullable(),
    why: z.string(),
    status: z.number().optional().describe('of HTTP, as the provider answered'),
    wait_seconds: z.number().optional().describe('until the next try'),
    again: z.literal(true).optional().describe('more is known of a try that was told before'),
  }),
  kind('rate_limit', 'The provider refuses for a while', { until: z.string().nullable(), text: z.string() }),
  kind('permission', 'The agent asks whether it may use a tool, or may not', {
    id: z.string(),
    tool: z.string(),
    input: z.unknown(),
    edits,
    call: z.string().optional().describe('the id of the call it is about'),
    denied: z.boolean(),
  }),
  kind('question', 'The agent asks a person', { id: z.string(), text: z.string() }),
  kind('said', 'What the agent was told', { id: z.string(), text: z.string() }),
  kind('interrupted', 'A person had it stop what it did', { id: z.string() }),
  kind('result', 'A turn is over', { ok: z.boolean(), text: z.string(), reason: z.string().nullable() }),
  kind('error', 'Something failed', { text: z.string() }),
  kind('warning', 'Something is not as it should be, and the agent works all the same', { text: z.string() }),
  kind('raw', 'A line that is no event', { text: z.string() }),
])
export type AgentEvent = z.infer<typeof AgentEvent>

/** `sent`: what we told the agent through its standard input. */
export const Stream = z.enum(['stdout', 'stderr', 'sent'])
export type Stream = z.infer<typeof Stream>

export const TranscriptPlace = z.object({
  event_id: z.string().describe('stays the same however it is read'),
  cursor: z.string().describe('the place behind it: `after` goes on from there, `before` ends with it'),
  at: z.string().nullable().describe('when it had arrived; empty: nobody was there to note it'),
  stream: Stream,
  cut: z
    .literal(true)
    .optional()
    .describe('its texts are longer than they are shown here: `read_transcript_event` has all of it'),
})

/** An event of a transcript, and where it stands in it. */
export type TranscriptEvent = AgentEvent & z.infer<typeof TranscriptPlace>
export const TranscriptEvent = z.discriminatedUnion(
  'type',
  AgentEvent.options.map(option => option.extend(TranscriptPlace.shape).describe(option.description!)) as never,
) as unknown as z.ZodType<TranscriptEvent, TranscriptEvent>

/** What `stream_session` says last. */
export const TranscriptEnd = z.object({ outcome: Outcome.nullable(), outcome_reason: z.string().nullable() })
export type TranscriptEnd = z.infer<typeof TranscriptEnd>

/** Whether somebody who looks for what went wrong wants to see it. */
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
