import type * as z from 'zod'
import type { Caller, Progress } from '../../operations/operation.ts'

/** What an MCP endpoint offers. Which of it one caller sees is decided by whoever makes the offer. */
export interface Offer {
  name: string
  /** What a client tells its model about all of it. */
  instructions: string
  tools: readonly Tool[]
  resources?: readonly Resource[]
  prompts?: readonly Prompt[]
}

/** One call of a tool, as long as it lasts. */
export interface Call {
  /** Fires when the asker is gone or the server stops; an answer that is quickly given still arrives in the latter case. */
  signal: AbortSignal
  /** Told to clients that asked for it. */
  progress(step: Progress): void
  /** The same call sent again carries the same key, and is not carried out again. */
  key?: string
}

export interface Tool<I extends z.ZodObject = z.ZodObject> {
  name: string
  summary: string
  input: I
  /** Changes nothing, so that a client may call it without asking a person. */
  readOnly?: boolean
  /** Takes its time: answered as a stream, with progress and signs of life. */
  long?: boolean
  /** A text is told as it is, an array is content in the protocol's own form, anything else is told as JSON. */
  run(caller: Caller, input: z.infer<I>, call: Call): Promise<unknown>
}

/** A field nobody knows is a mistake, not a thing to ignore. */
export const tool = <I extends z.ZodObject>(definition: Tool<I>): Tool =>
  ({ ...definition, input: definition.input.strict() }) as unknown as Tool

export interface Listed {
  uri: string
  name: string
  description?: string
}

/** Something to read under an address, or under many of one form. */
export interface Resource {
  /** With fields in braces it is a template: `fleet://missions/{mission_id}`, `fleet://log{?after}`. */
  uri: string
  name: string
  summary: string
  mimeType: string
  /** What there is of a template, page by page; absent: clients only know its form. */
  list?(caller: Caller, cursor?: string): Promise<{ items: Listed[]; cursor?: string }>
  read(caller: Caller, fields: Record<string, string>): Promise<string | Buffer>
}

export interface PromptArgument {
  name: string
  description: string
  required?: boolean
  /** What a person who has typed so much may mean. */
  complete?(caller: Caller, typed: string): Promise<string[]>
}

export interface Prompt {
  name: string
  summary: string
  arguments: readonly PromptArgument[]
  /** A text is said by the user; an array is messages in the protocol's own form. */
  write(caller: Caller, given: Record<string, string>): Promise<string | object[]>
}
