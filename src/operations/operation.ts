import type { z } from 'zod'
import type { Fleet } from '../fleet/fleet.ts'

/** Who asks. A session's token speaks for that session only; a plugin asks as the owner, and is named. */
export type Caller =
  | { kind: 'owner'; plugin?: string /** the browser they ask with, where it has a name */; device?: string }
  | { kind: 'session'; session_id: string; mission_id: string; project_id: string }

export interface Context {
  fleet: Fleet
  caller: Caller
  /** The idempotency key: the same command sent again with it is not carried out again. */
  key?: string
  /** Fires when the asker is gone. */
  signal: AbortSignal
  /** Hears how far it is, where the way it was asked allows for that. */
  progress?: (step: Progress) => void
}

export interface Progress {
  done: number
  total?: number
  message: string
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

interface Common<I extends z.ZodObject, N extends string> {
  name: N
  summary: string
  /** `POST /api/missions/:mission_id/dispatch`; what is named in the path is a field of the input. */
  http: `${Method} /${string}`
  input: I
  /** Whether a session's own token may ask for this, given the input; absent: never. */
  agentMay?: (caller: Extract<Caller, { kind: 'session' }>, input: z.infer<I>) => boolean
  /** Whether the thing asked for happens only while a server runs; the terminal starts one then. */
  needsFleet?: boolean
  /** Whether a running server must do it itself, because it works in worktrees that sessions work in too. */
  inServer?: boolean
}

export interface Query<I extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType, N extends string = string>
  extends Common<I, N> {
  kind: 'query' | 'command'
  output: O
  run(context: Context, input: z.infer<I>): Promise<z.input<O>>
}

/** One item of a stream; `cursor` resumes after it. `null` data marks time passing: nothing new, still alive. */
export interface Item<T> {
  cursor: string
  kind: string
  data: T
}

export interface Streaming<
  I extends z.ZodObject = z.ZodObject,
  O extends z.ZodType = z.ZodType,
  N extends string = string,
> extends Common<I, N> {
  kind: 'stream'
  /** Of each item's data. The input has an optional `after`: the cursor to go on from. */
  output: O
  run(context: Context, input: z.infer<I>): AsyncIterable<Item<z.input<O>>>
}

export type Operation = Query | Streaming

// The makers tie the types of input, output and run together; the name stays literal, for typed clients. A field nobody knows is a mistake, not a thing to ignore.
const strict = <I extends z.ZodObject>(input: I): I => input.strict() as unknown as I

export const query = <const N extends string, I extends z.ZodObject, O extends z.ZodType>(
  definition: Omit<Query<I, O, N>, 'kind'>,
): Query<I, O, N> => ({
  ...definition,
  input: strict(definition.input),
  kind: 'query',
})
export const command = <const N extends string, I extends z.ZodObject, O extends z.ZodType>(
  definition: Omit<Query<I, O, N>, 'kind'>,
): Query<I, O, N> => ({
  ...definition,
  input: strict(definition.input),
  kind: 'command',
})
export const stream = <const N extends string, I extends z.ZodObject, O extends z.ZodType>(
  definition: Omit<Streaming<I, O, N>, 'kind'>,
): Streaming<I, O, N> => ({ ...definition, input: strict(definition.input), kind: 'stream' })
