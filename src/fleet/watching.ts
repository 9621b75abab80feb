import { join } from 'node:path'
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
import { type Context, isFull, type Outcome } from '../domain/records/session.ts'
import { readPlain } from '../platform/launch-folder.ts'
import { every } from '../platform/timers.ts'
import { isCutShort } from '../runner/jobs.ts'
import { Times } from '../transcripts/moments.ts'
import { LineTail } from '../transcripts/reader.ts'
import { type Budget, leftOf, overBudget } from './dispatch/budgets.ts'

const TICK_MS = 40
const TIMES_EVERY_MS = 250
/** Reading stops the server meanwhile: it is done in small pieces, and after so long others get their turn. */
const PIECE_BYTES = 16 * 1024
const TURN_MS = 8
/** How often a file that is not there yet is looked for. */
const SEARCH_EVERY_MS = 500
/** A gap longer than this between two ticks is a machine that slept, and does not count as time worked. */
const SLEEP_GAP_MS = 30_000

export interface Stop {
  outcome: Outcome
  reason: string
  /** What a person can do about it. */
  try?: string
  /** For rate_limited: when to try again. */
  until?: string
  /** A person had the server stop: the interruption is nobody's fault and does not count. */
  uncounted?: boolean
}

export interface Limits {
  timeoutSeconds: number
  transcriptBytes: number
  maxTurns: number | null
  budget: Budget | null
  /** Why it cannot be held to its budget, once that shows; null: it can. */
  unheldBudget: (digest: Digest) => string | null
  /** Percent of the context window. */
  contextLimit: number
  /** Whether its work may go on in a fresh conversation when this one is full. */
  mayHandOver: boolean
}

/** What the client keeps account in beside what it prints, from when on, and where. */
export interface Account {
  since: string
  find(conversation: string): string | undefined
}

export interface Listener {
  /** Each line of the transcript, what was sent to the agent included. */
  line(text: string, stream: Stream): void
  event(event: AgentEvent): void
  /** After a turn of reading that brought something. */
  read(): void
  limit(stop: Stop): void
  /** It could not be read now; it is tried again. */
  fault(error: unknown): void
}

/** Reads what an agent prints as it prints it, and says when a limit is passed. */
export class Watch {
  digest: Digest = emptyDigest()
  /** Why its adapter cannot read it any more; the rest of it is not read. */
  fault: string | null = null
  /** Whether others draw on the same money. */
  readonly hasDaysBudget: boolean
  readonly #agent: Agent
  readonly #directory: string
  #limits: Limits
  readonly #knowledge: Knowledge
  readonly #tails: { stdout: LineTail; stderr: LineTail; sent: LineTail }
  readonly #account: Account | null
  #ledger: LineTail | null = null
  #lastSearch = -Infinity
  readonly #times: Times
  readonly #timer: NodeJS.Timeout
  readonly #listener: Listener
  #workedMs: number
  #lastTick = performance.now()
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
      hasDaysBudget,
    }: {
      limits: Limits
      knowledge: Knowledge
      workedMs: number
      account: Account | null
      hasDaysBudget: boolean
    },
    listener: Listener,
  ) {
    this.#agent = agent
    this.#account = account
    this.hasDaysBudget = hasDaysBudget
    this.#limits = limits
    this.#knowledge = knowledge
    this.#workedMs = workedMs
    this.#listener = listener
    this.#directory = directory
    const tail = (name: string) => new LineTail(join(directory, name), 0)
    this.#tails = { stdout: tail('stdout'), stderr: tail('stderr'), sent: tail('sent') }
    this.#times = new Times(directory)
    this.#timer = every(
      TICK_MS,
      () => this.#tick(),
      error => listener.fault(error),
    )
  }

  /** How much was printed and said so far: of the conversation, and beside it. */
  get words(): { said: number; printed: number } {
    const { stdout, stderr, sent } = this.#tails
    return { said: stdout.position + sent.position, printed: stderr.position }
  }

  /** Its budget has changed while it works. */
  set budget(budget: Budget | null) {
    this.#limits = { ...this.#limits, budget }
  }

  /** What its budget says of what it has spent by now, once that is all of it. */
  get spentBudget(): Stop | undefined {
    const { budget } = this.#limits
    const { cost_usd } = this.digest.usage
    if (!budget || cost_usd < leftOf(budget)) return undefined
    return { outcome: 'limited', reason: overBudget(budget, cost_usd), try: budget.try }
  }

  /** Reads all that is there by now: where a conversation stands is known only then, so nobody is told before. */
  async catchUp(): Promise<void> {
    this.#isCatchingUp = true
    try {
      while (this.#read()) await afterOthers()
    } finally {
      this.#isCatchingUp = false
    }
  }

  /** Everything is printed: read the rest and stop. */
  async finish(): Promise<Digest> {
    clearInterval(this.#timer)
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

  /** Stops reading; another server will go on. */
  close(): void {
    clearInterval(this.#timer)
    for (const tail of Object.values(this.#tails)) tail.close()
    this.#ledger?.close()
  }

  #tick(): void {
    const now = performance.now()
    const gap = now - this.#lastTick
    this.#lastTick = now
    if (gap < SLEEP_GAP_MS) this.#workedMs += gap
    if (!this.#isCatchingUp) this.#read()
    this.#note(false)
    this.#limit(this.#passed())
  }

  #limit(stop: Stop | undefined): void {
    if (this.#limited || !stop) return
    this.#limited = true
    this.#listener.limit(stop)
  }

  /** Reads for one turn. Whether anything came, a part of a long line included. */
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

  /** What the client has written into its account of the conversation; whether anything came. */
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
      this.#limit({ outcome: 'failed', reason: error.message })
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

  #passed(): Stop | undefined {
    const { timeoutSeconds, transcriptBytes, maxTurns, budget, contextLimit, mayHandOver } = this.#limits
    const { result, context } = this.digest
    const { turns, cost_usd } = this.digest.usage
    if (this.#workedMs > timeoutSeconds * 1000)
      return { outcome: 'limited', reason: `It reached its time limit of ${timeoutSeconds} seconds.` }
    // By what is written, not by what was read: reading may be far behind.
    if (this.#tails.stdout.size() + this.#tails.stderr.size() > transcriptBytes || isCutShort(this.#directory))
      return { outcome: 'limited', reason: `It printed more than ${transcriptBytes} bytes.` }
    if (maxTurns !== null && turns > maxTurns)
      return { outcome: 'limited', reason: `It reached its limit of ${maxTurns} turns.` }
    if (budget && cost_usd > leftOf(budget)) return this.spentBudget
    const unheld = this.#limits.unheldBudget(this.digest)
    if (unheld) return { outcome: 'limited', reason: unheld }
    // One that has said its last word needs no more room.
    if (!result && context && isFull(context, contextLimit))
      return { outcome: mayHandOver ? 'handed_over' : 'limited', reason: fullContext(context, contextLimit) }
    return undefined
  }
}

const fullContext = ({ used_tokens, window_tokens }: Context, limit: number): string =>
  `Its context window is ${Math.floor((used_tokens * 100) / window_tokens!)} % full, ` +
  `${used_tokens} of ${window_tokens} tokens; its limit is ${limit} %.`

const MAX_RESULT_BYTES = 256 * 1024

/** The report an agent wrote itself, if it is one. */
export function readResult(file: string): unknown {
  try {
    return JSON.parse(readPlain(file, MAX_RESULT_BYTES) ?? '')
  } catch {
    return undefined
  }
}
