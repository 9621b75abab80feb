import type { AgentEvent, Answer, Digest, Driver, Exit, Image, Launch } from '../agents/contract.ts'
import type { LaunchContent } from '../platform/launch-folder.ts'
import type { Identity } from './processes.ts'

/**
 * The messages between the two halves of a session. The runner (`AgentRun`) has the agent's processes, files and
 * conversation, and no store. The records half (`fleet/sessions/live-session.ts`) turns the runner's messages into
 * commits, and commits into messages to the runner. Each side's messages arrive in order.
 *
 *     adopt ─► absent ─► launch ─► running ─► follow ─► read, asked, heard, sent, limit, alive … ─► over ─► close ─► closed
 *        └───────────────────────────▲
 *
 * They are plain data, with two exceptions while both halves are in one process: the driver of a client that a library
 * talks to, and errors, so that their stack can be logged.
 */
export type ToRunner =
  /** Adopt what an earlier server launched. `process`: the one it recorded, if it got so far. */
  | { type: 'adopt'; process: { pid: number; started: string } | null }
  | { type: 'launch'; launch: LaunchOrder }
  /** Read what the agent prints, enforce its limits and report how it ends. */
  | { type: 'follow'; limits: Limits; workedMs: number; since: string }
  | { type: 'budget'; usd: number | null }
  /** Everything that the agent is to be told. It replaces the earlier list. */
  | { type: 'talk'; waiting: readonly Words[] }
  /** A message that is useful only now. */
  | { type: 'nudge'; id: string; text: string }
  /** End it: ask first, then kill. The reason is in the records already. */
  | { type: 'stop'; graceMs: number }
  /** End every process that belongs to it, launched or not. */
  | { type: 'sweep' }
  /** Finish what was asked so far. Nothing more comes. */
  | { type: 'close' }
  /** The server stops and the agent stays. */
  | { type: 'release' }

export type FromRunner =
  /** Answer to `adopt`: nothing was launched. */
  | { type: 'absent' }
  /** `bound`: it ends with this process. */
  | { type: 'running'; directory: string; process: Identity | null; adopted: boolean; bound: boolean }
  /** Answer to `adopt`, `launch` and `follow`: it failed. */
  | { type: 'failed'; error: unknown }
  /** New lines were read. */
  | { type: 'read'; digest: Digest }
  | { type: 'asked'; question: AgentQuestion }
  /** The agent says that it got this message. */
  | { type: 'heard'; id: string }
  /** The client got this message, or nobody wanted it any more. */
  | { type: 'sent'; id: string }
  | { type: 'limit'; limit: PassedLimit; digest: Digest }
  /** The adapter cannot read it. */
  | { type: 'misread'; reason: string }
  /** Sent every two seconds: how long it has shown no sign of life, and how long it worked while watched. */
  | { type: 'alive'; idleMs: number; workedMs: number }
  /** Something failed and is tried again. */
  | { type: 'fault'; during: string; error: unknown }
  | { type: 'over'; exit: Exit; digest: Digest; directory: string; swept: number; fault: string | null }
  | { type: 'swept'; processes: number }
  | { type: 'closed'; fault: string | null }

export type AgentQuestion = Extract<AgentEvent, { type: 'question' | 'permission' }>

export interface Picture {
  type: Image['type']
  bytes: Uint8Array
}

/** A message or answer for the agent, with the id of its record. */
export type Words =
  | { type: 'say'; id: string; text: string; images?: readonly Picture[] }
  | { type: 'answer'; id: string; askedAs: string; answer: Answer }
  | { type: 'interrupt'; id: string }

/** Everything needed to start it. */
export interface LaunchOrder {
  /** The folder of this launch, in which `files` are written first. */
  directory: string
  files: LaunchContent
  argv: readonly string[]
  cwd: string
  env: Record<string, string>
  stdin: Launch['stdin']
  /** How much of each stream is kept. */
  maxBytes: number
  driver?: Driver
}

export interface Limits {
  /** Counts the time it works while watched. */
  timeoutSeconds: number
  transcriptBytes: number
  maxTurns: number | null
  budgetUsd: number | null
  /** Percent of the context window. */
  contextLimit: number
}

export type PassedLimit = 'time' | 'size' | 'turns' | 'budget' | 'context'
