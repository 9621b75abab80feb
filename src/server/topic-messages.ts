import * as z from 'zod'
import { InvalidInput } from '../domain/errors.ts'
import { problemOf } from '../domain/rules/input-words.ts'

const id = z.union([z.string().max(100), z.number()]).optional()
const Names = z.array(z.string().min(1).max(200)).min(1).max(50)

/** What a reader of topics says. */
export const Said = z.discriminatedUnion('type', [
  z
    .strictObject({
      type: z.literal('subscribe'),
      id: id.describe('comes back in the answers'),
      topics: Names.describe('ids may be shortened to their first letters'),
      // The cursor of claude-fleet has a place in each transcript.
      after: z
        .string()
        .max(24_000)
        .optional()
        .describe(
          'the last cursor that was received: what came after it follows. Absent: from now, a session from its beginning',
        ),
    })
    .describe('Follow topics. A topic that is followed already is followed anew'),
  z
    .strictObject({ type: z.literal('unsubscribe'), id: id.describe('comes back in the answer'), topics: Names })
    .describe('Follow them no longer'),
  z
    .strictObject({ type: z.literal('ping'), id: id.describe('comes back in the answer') })
    .describe('Ask for a sign of life'),
])
export type Said = z.infer<typeof Said>

const cursor = z.string().nullable()
const topic = z.string().describe('with the whole id')

/** What it is told. */
export const Told = z.discriminatedUnion('type', [
  z
    .object({
      type: z.literal('subscribed'),
      id,
      topics: z.array(z.object({ topic, cursor })).describe('each with the cursor that it is followed from'),
    })
    .describe('These topics are followed from now on'),
  z
    .object({ type: z.literal('unsubscribed'), id, topics: z.array(z.string()) })
    .describe('Nothing more comes of these'),
  z
    .object({
      type: z.literal('event'),
      topic,
      cursor: cursor.describe('`after` continues behind it'),
      kind: z.string().describe('the kind of the event, or of the transcript event'),
      data: z.unknown().describe('as the event stream or the stream of the session has it'),
    })
    .describe('Something happened'),
  z
    .object({
      type: z.literal('gap'),
      topic,
      cursor: cursor.describe('the last one that was sent'),
      reason: z
        .enum(['slow', 'reset'])
        .describe(
          'slow: you read too slowly, and the topic is followed no longer: subscribe again with this cursor. reset: older events were dropped from the store; read the state again, what is still there follows',
        ),
    })
    .describe('Something is missing here'),
  z
    .object({
      type: z.literal('refused'),
      id,
      topic: z.string().optional().describe('as you named it; it is not followed, or no longer'),
      code: z.string(),
      message: z.string(),
      try: z.string().optional().describe('what to do'),
    })
    .describe('Why a topic is not followed, or the connection is about to be closed'),
  z
    .object({
      type: z.literal('pong'),
      id,
      cursors: z.record(z.string(), cursor).describe('where each topic was read to, also if nothing was sent'),
    })
    .describe('The answer to a ping'),
])
export type Told = z.infer<typeof Told>

/** Throws if it is no message. */
export function heard(text: string): Said {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new InvalidInput('message', 'is not JSON')
  }
  const { success, data, error } = Said.safeParse(value)
  if (success) return data
  const issue = error.issues[0]!
  throw new InvalidInput(issue.path.join('.') || 'message', problemOf(issue), {
    try: 'Send subscribe, unsubscribe or ping, as docs/reference/live.md lists them.',
  })
}
