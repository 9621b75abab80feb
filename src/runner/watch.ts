import { setImmediate as afterOthers } from 'node:timers/promises'
import {
  AdapterFault,
  type Agent,
  type AgentEvent,
  type Digest,
  emptyDigest,
  fold,
  type Knowledge,
  type Line,
  readAll,
  type Stream,
} from '../agents/index.ts'
import { isFull } from '../domain/records/session.ts'
import { fileOf } from '../platform/launch-folder.ts'
import { Lookout } from '../platform/lookout.ts'
import { Times } from '../transcripts/moments.ts'
import { LineTail } from '../transcripts/reader.ts'
import { isCutShort } from './jobs.ts'
import type { Limits, PassedLimit } from './protocol.ts'

const LOOK_EVERY_MS = 40
const FILES = (['stdout', 'stderr', 'sent', 'full'] as const).map(name => fileOf('', name))
const TIMES_EVERY_MS = 250
/** Reading blocks the server, so it is done in small pieces, and others get their turn after this long. */
const PIECE_BYTES = 16 * 1024
const TURN_MS = 8
/** How often a missing file is looked for. */
const SEARCH_EVERY_MS = 500
/** A longer gap between two looks means that the machine slept. It does not count as time worked. */
const SLEEP_GAP_MS = 30_000

/** The client's own file about usage: what it is, from when it counts, and where it is. */
export interface Account {
  since: string
  find(conversation: string): string | undefined
}

export interface Listener {
  /** Each line of the transcript, including what was sent to the agent. */
  line(text: string, stream: Stream): void
  event(event: AgentEvent): void
  /** Called after new lines were read. */
  read(): void
  limit(limit: PassedLimit): void
  /** The adapter cannot read the output any more. */
  misread(reason: string): void
  /** The output could not be read now, and is tried again. */
  fault(error: unknown): void
}

/** Reads an agent's output as it comes, and reports when a limit is passed. */
export class Watch {
  digest: Digest = emptyDigest()
  /** Why its adapter cannot read its output any more. The rest of it is not read. */
  fault: string | null = null
  readonly #agent: Agent
  readonly #directory: string
  #limits: Limits
  readonly #knowledge: Knowledge
  readonly #tails: { stdout: LineTail; stderr: LineTail; sent: LineTail }
  readonly #account: Account | null
  #ledger: LineTail | null = null
  #lastSearch = -Infinity
  readonly #times: Times
  readonly #lookout: Lookout
  readonly #listener: Listener
  #workedMs: number
  #lastLook = performance.now()
  #lastNote = 0
  #limited = false
  #isCatchingUp = false

  constructor(
    directory: string,
    agent: Agent,
    {
      limits,
      knowledge,
      workedMs,
      account,
    }: {
      limits: Limits
      knowledge: Knowledge
      workedMs: number
      account: Account | null
    },
    listener: Listener,
  ) {
    this.#agent = agent
    this.#account = account
    this.#limits = limits
    this.#knowledge = knowledge
    this.#workedMs = workedMs
    this.#listener = listener
    this.#directory = directory
    const tail = (name: Stream) => new LineTail(fileOf(directory, name), 0)
    this.#tails = { stdout: tail('stdout'), stderr: tail('stderr'), sent: tail('sent') }
    this.#times = new Times(directory)
    this.#lookout = new Lookout(
      { folder: directory, names: FILES, everyMs: LOOK_EVERY_MS },
      () => this.#look(),
      error => listener.fault(error),
    )
  }

  /** How many bytes of the conversation there are, and how many were printed besides. */
  get words(): { said: number; printed: number } {
    const { stdout, stderr, sent } = this.#tails
    return { said: stdout.position + sent.position, printed: stderr.position }
  }

  /** How long it has worked while somebody watched. */
  get workedMs(): number {
    return this.#workedMs
  }

  /** The budget can change while it works. */
  set budgetUsd(budgetUsd: number | null) {
    this.#limits = { ...this.#limits, budgetUsd }
  }

  /** Reads everything so far. Only then is the state of the conversation known. */
  async catchUp(): Promise<void> {
    this.#isCatchingUp = true
    try {
      while (this.#read()) await afterOthers()
    } finally {
      this.#isCatchingUp = false
    }
  }

  /** All output is there: reads the rest and stops. */
  async finish(): Promise<Digest> {
    this.#lookout.close()
    while (this.#read()) await afterOthers()
    for (const stream of ['stdout', 'stderr'] as const) {
      const rest = this.#tails[stream].rest()
      if (rest) this.#take([{ text: rest.text, stream }])
    }
    this.#lastSearch = -Infinity
    while (this.#readLedger()) await afterOthers()
    this.#note(true)
    this.close()
    return this.digest
  }

  /** Stops reading. Another server will go on. */
  close(): void {
    this.#lookout.close()
    for (const tail of Object.values(this.#tails)) tail.close()
    this.#ledger?.close()
  }

  /** Returns whether anything came. */
  #look(): boolean {
    const now = performance.now()
    const gap = now - this.#lastLook
    this.#lastLook = now
    if (gap < SLEEP_GAP_MS) this.#workedMs += gap
    const grew = !this.#isCatchingUp && this.#read()
    this.#note(false)
    const limit = this.#limited ? undefined : this.#passed()
    if (limit) {
      this.#limited = true
      this.#listener.limit(limit)
    }
    return grew
  }

  /** Reads once. Returns whether anything came, even a part of a long line. */
  #read(): boolean {
    const end = performance.now() + TURN_MS
    let grew = false
    while (this.#readPiece()) {
      grew = true
      if (performance.now() >= end) break
    }
    if (grew && !this.#isCatchingUp) this.#listener.read()
    return grew
  }

  #readPiece(): boolean {
    let grew = false
    for (const stream of ['stdout', 'stderr', 'sent'] as const) {
      const tail = this.#tails[stream]
      const before = tail.position
      this.#take(tail.read(before + PIECE_BYTES).map(({ text }) => ({ text, stream })))
      grew ||= tail.position > before
    }
    return this.#readLedger() || grew
  }

  /** Reads the client's file about usage. Returns whether anything came. */
  #readLedger(): boolean {
    const { ledger } = this.#agent
    const { conversation } = this.digest
    if (!ledger || !this.#account || conversation === null) return false
    if (!this.#ledger) {
      const now = performance.now()
      if (now - this.#lastSearch < SEARCH_EVERY_MS) return false
      this.#lastSearch = now
      const file = this.#account.find(conversation)
      if (file === undefined) return false
      this.#ledger = new LineTail(file, 0)
    }
    const before = this.#ledger.position
    for (const { text } of this.#ledger.read(before + PIECE_BYTES)) {
      const { at, events } = ledger.read(text)
      if (at >= this.#account.since) this.digest = fold(this.digest, events, this.#knowledge)
    }
    return this.#ledger.position > before
  }

  #take(lines: readonly Line[]): void {
    if (this.fault !== null || lines.length === 0) return
    try {
      const events = readAll(this.#agent, lines)
      for (const [index, { text, stream }] of lines.entries()) this.#hear(text, stream, events[index] ?? [])
    } catch (error) {
      if (!(error instanceof AdapterFault)) throw error
      this.fault = error.message
      if (!this.#limited) this.#listener.misread(error.message)
      this.#limited = true
    }
  }

  #hear(text: string, stream: Stream, events: AgentEvent[]): void {
    this.#listener.line(text, stream)
    this.digest = fold(this.digest, events, this.#knowledge)
    for (const event of events) this.#listener.event(event)
  }

  #note(now: boolean): void {
    const at = Date.now()
    if (!now && at - this.#lastNote < TIMES_EVERY_MS) return
    this.#lastNote = at
    const { stdout, stderr, sent } = this.#tails
    this.#times.note(at, { stdout: stdout.position, stderr: stderr.position, sent: sent.position })
  }

  #passed(): PassedLimit | undefined {
    const { timeoutSeconds, transcriptBytes, maxTurns, budgetUsd, contextLimit } = this.#limits
    const { result, context } = this.digest
    const { turns, cost_usd } = this.digest.usage
    if (this.#workedMs > timeoutSeconds * 1000) return 'time'
    // Counts what was written, not what was read: reading may be far behind.
    if (this.#tails.stdout.size() + this.#tails.stderr.size() > transcriptBytes || isCutShort(this.#directory))
      return 'size'
    if (maxTurns !== null && turns > maxTurns) return 'turns'
    if (budgetUsd !== null && cost_usd > budgetUsd) return 'budget'
    // An agent that has finished needs no more room.
    return !result && isFull(context, contextLimit) ? 'context' : undefined
  }
}
