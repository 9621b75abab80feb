import type { Readable, Writable } from 'node:stream'
import type { Engine } from '../domain/records/project.ts'
import type { AgentEvent, Stream } from '../domain/records/transcript.ts'
import type * as adapter from './adapter.ts'
import type { Capabilities, Detected, Environment, Model, Program } from './adapter.ts'

export type * from './adapter.ts'
export type { AgentEvent, Stream }

export interface Launch extends adapter.Launch {
  /** Speaks with the client from inside the server, instead of `argv`; what is said to it still comes in lines. */
  driver?: Driver
}

/** Drives a client to its end through a library of its maker. Throws where it cannot even be started. */
export type Driver = (seat: Seat) => Promise<void>

export interface Seat {
  readonly env: Record<string, string>
  /** What is said to the client, line by line, until nothing more will be. */
  readonly said: AsyncIterable<string>
  /** A line of the transcript. */
  print(line: string): void
  /** The client's own process. It is stopped from outside like any other. */
  start(command: string, args: readonly string[], env: Record<string, string>): Started
}

export interface Started {
  stdin: Writable
  stdout: Readable
}

/** A program of the client through which its person works in a folder from elsewhere. All pure. */
export interface RemoteControl {
  launch(environment: Environment): Program
  /** The link in what it has printed so far. */
  link(printed: string): string | undefined
  /** What a known refusal in there means, and what to do. */
  refusal(printed: string): string | undefined
}

/** A file in which a client keeps account of a conversation, where that says sooner what was used than what it prints. */
export interface Ledger {
  /** Where it is; undefined: not there yet. */
  find(environment: Environment, conversation: string): string | undefined
  /** One line in, events out, and when they happened: a conversation that was taken up again has older ones. */
  read(line: string): { at: string; events: AgentEvent[] }
}

/** A line of a transcript. */
export interface Line {
  text: string
  stream: Stream
}

/** A coding agent, whoever brought it. What throws is a Refusal: `launch` where it cannot, and what the code of a plugin does wrong. */
export interface Agent extends adapter.Adapter {
  readonly title: string
  readonly provider: string
  readonly can: Capabilities
  readonly models: readonly Model[]
  detect(environment: Environment): Promise<Detected>
  launch(request: adapter.LaunchRequest): Launch
  read(line: string, stream: Stream): AgentEvent[]
  readonly ledger?: Ledger
  /** What a person does who is not signed in, as a sentence. */
  readonly signIn?: string
  /** Only where `can.remoteControl`. */
  readonly remote?: RemoteControl
  /** The same client driven in other ways than through its command line. */
  readonly engines?: Readonly<Partial<Record<Engine, Agent>>>
  /** How many tokens a model takes, as the person's own set-up of the client says; null: the client's own choice of model. */
  windowOf?(model: string | null, environment: Environment): number | null
  /** The same as `read` for many lines, where asking one by one would be slow. */
  readAll?(lines: readonly Line[]): AgentEvent[][]
  /** Whose code it is, if it is a plugin's. */
  readonly plugin?: string
}
