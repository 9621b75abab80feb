import type * as z from 'zod'
import type { Caller, Elicit, From, Progress } from '../../operations/operation.ts'

/** What an MCP endpoint offers. Its maker decides what a caller sees of it. */
export interface Offer {
  name: string
  /** What a client tells its model about all of it. */
  instructions: string
  tools: readonly Tool[]
  resources?: readonly Resource[]
  prompts?: readonly Prompt[]
}

/** One call of a tool. */
export interface Call {
  /** For the audit log. */
  from: From
  /** Aborted when the caller is gone or the server stops. If the server stops, a quick answer still arrives. */
  signal: AbortSignal
  /** Sent to clients that asked for it. */
  progress(step: Progress): void
  /** A call that is sent again with the same key is not carried out again. */
  key?: string
  /** Asks the person at the client. Absent: the client cannot do that, or the answer is no stream. */
  elicit?: Elicit
}

export interface Tool<I extends z.ZodObject = z.ZodObject> {
  name: string
  summary: string
  input: I
  /** What clients of another tool send, in the fields of the input. */
  asOurs?: (given: Record<string, unknown>) => Record<string, unknown>
  /** Changes nothing, so that a client may call it without asking a person. */
  readOnly?: boolean
  /** It may take long: it is answered as a stream, with progress and signs of life. */
  long?: boolean
  /** A text is sent as it is, an array is content in the protocol's own form, anything else is sent as JSON. */
  run(caller: Caller, input: z.infer<I>, call: Call): Promise<unknown>
}

/** An unknown field is refused, not ignored. */
export const tool = <I extends z.ZodObject>(definition: Tool<I>): Tool =>
  ({ ...definition, input: definition.input.strict() }) as unknown as Tool

export interface Listed {
  uri: string
  name: string
  description?: string
}

/** Something to read at an address, or at many addresses of one form. */
export interface Resource {
  /** With fields in braces it is a template: `fleet://missions/{mission_id}`, `fleet://log{?after}`. */
  uri: string
  name: string
  summary: string
  mimeType: string
  /** Lists what matches a template, page by page. Absent: clients know only its form. */
  list?(caller: Caller, cursor?: string): Promise<{ items: Listed[]; cursor?: string }>
  read(caller: Caller, fields: Record<string, string>): Promise<string | Buffer>
  /** Completions by the name of the field. */
  complete?: Record<string, Complete>
}

/** The completions of what a person has typed so far. */
export type Complete = (caller: Caller, typed: string) => Promise<string[]>

export interface PromptArgument {
  name: string
  description: string
  required?: boolean
  complete?: Complete
}

export interface Prompt {
  name: string
  summary: string
  arguments: readonly PromptArgument[]
  /** A text is a message of the user; an array is messages in the protocol's own form. */
  write(caller: Caller, given: Record<string, string>): Promise<string | object[]>
}
