import * as z from 'zod'
import { DECISIONS } from '../choices.ts'
import { Id, Timestamp } from '../ids.ts'
import { StoredText } from '../text.ts'
import { MAX_SUBJECT_CHARS } from './approval-rule.ts'
import { Told } from './told.ts'

/** A message of a person to an agent at work. */
export const Message = z.object({
  id: Id,
  mission_id: Id,
  project_id: Id,
  session_id: Id.describe('the session it was meant for'),
  author: z.string().max(120),
  text: Told,
  delivery_id: Id.nullable().default(null).describe('it is mail of the team'),
  status: z
    .enum(['waiting', 'arrived', 'missed'])
    .describe('missed: the session ended first, so the next session is told'),
  created_at: Timestamp,
})
export type Message = z.infer<typeof Message>

export const MAX_ANSWER_CHARS = 20_000

/** An agent waits for a person: for a permission to use a tool, or for words. The first answer wins. */
export const Question = z.object({
  id: Id.describe("derived from the session and the client's own id, so that it is asked once"),
  mission_id: Id,
  project_id: Id,
  session_id: Id,
  kind: z
    .enum(['permission', 'question', 'interruption'])
    .describe('interruption: a person stopped the agent, and their answer is what it is told next'),
  /** The id that the client uses. The answer goes back under it. */
  asked_as: z.string(),
  /**
   * `client`: the client itself asked and waits. `tool`: asked through a tool, and a late answer starts the next
   * session.
   */
  through: z.enum(['client', 'tool']).default('client'),
  tool: z.string().max(200).nullable(),
  text: StoredText.describe('the question, or the whole input of the tool'),
  covers: z
    .string()
    .max(MAX_SUBJECT_CHARS)
    .nullable()
    .default(null)
    .describe('what an approval rule made from it would allow, as JSON; empty: no rule can be made'),
  status: z.enum(['open', 'answered', 'withdrawn']),
  answer: z.object({ decision: z.enum(DECISIONS), text: z.string().max(MAX_ANSWER_CHARS).nullable() }).nullable(),
  answered_by: z.string().max(120).nullable(),
  /** The answer has reached the agent. */
  delivered: z.boolean().default(false),
  /** When it is answered automatically, and how. */
  deadline: Timestamp.nullable(),
  otherwise: z.enum(DECISIONS).nullable(),
  created_at: Timestamp,
  answered_at: Timestamp.nullable(),
})
export type Question = z.infer<typeof Question>
