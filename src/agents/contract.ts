import type { Readable, Writable } from 'node:stream'
import type { Engine } from '../domain/records/project.ts'
import type { AgentEvent, Stream } from '../domain/records/transcript.ts'
import type { Screen, ScreenState } from '../domain/rules/screen.ts'
import type * as adapter from './adapter.ts'
import type { Capabilities, Detected, Environment, Model, Program } from './adapter.ts'

export type * from './adapter.ts'
export type { AgentEvent, Stream }

export interface Launch extends adapter.Launch {
  /** Drives the client from inside the server instead of `argv`. Messages to it still come as lines. */
  driver?: Driver
}

/** Drives a client to its end through a library of its maker. Throws if the client cannot be started. */
export type Driver = (seat: Seat) => Promise<void>

export interface Seat {
  readonly env: Record<string, string>
  /** The messages to the client, line by line, until there will be no more. */
  readonly said: AsyncIterable<string>
  /** A line of the transcript. */
  print(line: string): void
  /** Starts the client's own process, which is stopped from outside like any other. */
  start(command: string, args: readonly string[], env: Record<string, string>): Started
}

export interface Started {
  stdin: Writable
  stdout: Readable
}

/** A program of the client that lets its person work in a folder from elsewhere. All pure. */
export interface RemoteControl {
  launch(environment: Environment): Program
  /** The link in its output so far. */
  link(printed: string): string | undefined
  /** What a known refusal in the output means, and what to do. */
  refusal(printed: string): string | undefined
}

/** A file of the client with the usage of a conversation. It reports usage sooner than the output does. */
export interface Ledger {
  /** The path of the file; undefined: it does not exist yet. */
  find(environment: Environment, conversation: string): string | undefined
  /** Turns one line into events with their time: a resumed conversation has older ones. */
  read(line: string): { at: string; events: AgentEvent[] }
}

/** The client's own interactive program in a terminal that the fleet holds. All pure. */
export interface InTerminal {
  /** It asks for permission on its screen, whatever the mission says. */
  launch(request: adapter.LaunchRequest): Pick<Launch, 'argv' | 'env' | 'files'>
  /** What its screen says. Only in the state idle is anything typed. */
  judge(screen: Screen): ScreenState
  /** The line that makes it end by itself. */
  leave: string
  /** What begins a command for the shell in its input. Absent: it takes none. */
  command?: '!'
  /** The conversation is the one that the request names, so that it can be continued. */
  namesConversation?: true
  /** The file of the launch that it is told to read first, because its client takes no instructions from a file. */
  instructions?: string
}

/** A line of a transcript. */
export interface Line {
  text: string
  stream: Stream
}

/**
 * A coding agent, built in, declared or from a plugin. It throws only a Refusal: from `launch` if it cannot start, and
 * for errors in the code of a plugin.
 */
export interface Agent extends adapter.Adapter {
  readonly title: string
  readonly provider: string
  readonly can: Capabilities
  readonly models: readonly Model[]
  detect(environment: Environment): Promise<Detected>
  launch(request: adapter.LaunchRequest): Launch
  read(line: string, stream: Stream): AgentEvent[]
  readonly ledger?: Ledger
  /** How a person signs in, as a sentence. */
  readonly signIn?: string
  /** Only where `can.remoteControl`. */
  readonly remote?: RemoteControl
  /** Absent: it cannot be a member of a team in a terminal. */
  readonly inTerminal?: InTerminal
  /** The same client driven in other ways than its command line. */
  readonly engines?: Readonly<Partial<Record<Engine, Agent>>>
  /**
   * The context window of a model in tokens, from the person's set-up of the client; null: the client chooses the
   * model.
   */
  windowOf?(model: string | null, environment: Environment): number | null
  /** Does the same as `read` for many lines at once, if one by one would be slow. */
  readAll?(lines: readonly Line[]): AgentEvent[][]
  /** The plugin it comes from. */
  readonly plugin?: string
}
