/**
 * What an adapter is: what the fleet knows of a coding agent, and how it starts and reads one. Types only, and none of
 * them from elsewhere: this file is published, too, as a part of `flotilla/plugin`.
 */

/** A coding agent as the fleet sees it. All of it is pure and synchronous but for `detect` and `listModels`. */
export interface Adapter {
  /** Small letters, digits and `-`. */
  readonly name: string
  readonly title?: string
  /** The key rate limits and capacity are counted by; its own name if nothing is said. */
  readonly provider?: string
  readonly models?: readonly Model[]
  /** Asks the client itself by which names it knows models; absent: it cannot tell. */
  listModels?(environment: Environment): Promise<string[]>
  detect(environment: Environment): Promise<Detected>
  /** Throws, with a sentence for a person, for what this client cannot hold to, such as a preset it cannot enforce. */
  launch(request: LaunchRequest): Launch
  /** The client's own interactive program on an earlier conversation, and what it needs beside the person's own environment. Only where `takeOver` is among what it can. */
  interactive?(opening: Opening): Program
  /** One line in, events out. Never throws; what it does not know comes out as raw. */
  read(line: string, stream: Stream): AgentEvent[]
  readonly dialogue?: Dialogue
  /** Where it keeps things of its own and must be able to write also inside the sandbox; beginning with / or ~/. */
  readonly folders?: readonly string[]
  /** What the session came to. Several clients exit 0 on failure. */
  outcome(digest: Digest, exit: Exit): Ending
}

export type Environment = Readonly<Record<string, string | undefined>>

export type ToolPreset = 'full' | 'implement' | 'review' | 'test' | 'explore' | 'fix'

/** A server that is reached by HTTP. Values may name variables of the environment: `Bearer ${TOKEN}`. */
export interface HttpServer {
  url: string
  headers: Record<string, string>
}

/** A server that the client starts and speaks to through its input and output. Values may name variables too. */
export interface StdioServer {
  command: readonly [string, ...string[]]
  env: Record<string, string>
}

export type McpServer = HttpServer | StdioServer

/** What an agent can do, as `fleet agents` shows it. Nothing is offered that is not here. */
export interface Capabilities {
  resume: boolean
  fork: boolean
  /** 'mid-turn': a message reaches a working agent; 'next-turn': once it has finished; 'no': not at all. */
  liveMessages: 'mid-turn' | 'next-turn' | 'no'
  /** Stops what it does and stays, so that a person can say how to go on. */
  interrupt: boolean
  /** Who stops it: the client itself, or we from outside; 'no': it does not tell its turns, and such a limit is refused. */
  turnLimit: 'client' | 'outside' | 'no'
  budgetLimit: boolean
  /**
   * 'money': it says what it cost; 'priced': it tells tokens, and the table of prices says what they cost, if it has the
   * model; 'tokens': nobody can say; 'none': it tells nothing; 'free': there is nothing to pay.
   */
  cost: 'money' | 'priced' | 'tokens' | 'none' | 'free'
  /** When it tells what it used: only what is told while it works can be held to a budget. */
  usage: 'while working' | 'at the end' | 'never'
  /** Whether it tells while it works how full its context window is. */
  contextWindow: boolean
  /** A person can be asked for what the preset does not allow, and the agent waits for the answer. */
  approvals: boolean
  /** It puts questions of its own to a person, and goes on with the answer. Like approvals, only where people are asked. */
  questions: boolean
  /** Which presets it can really hold to. */
  presets: readonly ToolPreset[]
  /** Which others the sandbox of the operating system holds it to, where there is one; see runner/sandbox. */
  sandboxed: readonly ToolPreset[]
  customTools: boolean
  /** How hard it can be told to think; none: it cannot. */
  effort: readonly string[]
  /** How it is given servers of tools; 'stdio': it only starts programs, so that the fleet's own come by a bridge. */
  mcp: 'http' | 'stdio' | 'no'
  /** Keeps running when the server dies and is taken up again by the next. */
  adopted: boolean
  /** A person can go on with its conversation in their own terminal: see `interactive`. */
  takeOver: boolean
  /** It can be reached from elsewhere: see `remote`. */
  remoteControl: boolean
  /**
   * By what it is judged to be stuck. 'conversation': it tells what it says, and which tools it uses as they begin, so
   * that silence without a tool at work is a model that does not answer; 'processes': by what its processes do as well.
   */
  life: 'conversation' | 'processes'
  /** It runs the text of a mission as a program. Only whoever names it on that very text has it run; it is nobody's default. */
  scripts: boolean
}

export interface Detected {
  installed: boolean
  path?: string
  version?: string
  /** undefined: the client does not tell. */
  signedIn?: boolean
  /** What is missing and how to get it. */
  advice?: string
}

/** Everything an adapter may need to start a session. Paths are absolute. */
export interface LaunchRequest {
  reason: SessionReason
  /** The whole prompt with everything handed over, also written to `promptFile`. */
  prompt: string
  /** The mission's own prompt, byte for byte and nothing else. */
  script: string
  promptFile: string
  /** The session's own directory: files the launch names are written there. */
  directory: string
  workingDirectory: string
  model: string | null
  /** One of what `can.effort` says. */
  effort: string | null
  preset: ToolPreset
  allowedTools: readonly string[] | null
  maxTurns: number | null
  maxBudgetUsd: number | null
  systemPrompt: string
  /** The id to give a new conversation, where the client lets us choose. */
  conversation: string
  /** The conversation to go on with. */
  resumes: string | null
  /** Go on with a copy of it, and leave the first as it is. */
  forks: boolean
  /** What happens when the agent wants what its preset does not allow: a person is asked, or it is denied. */
  approvals: 'ask' | 'deny'
  /** Their values may name variables that are in the agent's environment. */
  mcpServers: Readonly<Record<string, McpServer>>
  /** Of the server; an adapter names what its client needs, nothing else reaches it. */
  environment: Environment
}

export interface Launch {
  argv: readonly [string, ...string[]]
  env: Record<string, string>
  /** By name, in the session's directory; readable by the owner only unless a mode is given. */
  files: Record<string, string | { content: string; mode: number }>
  /** 'fifo': the agent is spoken to through its standard input, as its dialogue says. */
  stdin: 'none' | 'fifo'
}

/** What a person's own terminal needs to open a conversation. */
export type Opening = Pick<LaunchRequest, 'conversation' | 'model' | 'preset'>

/** A program that the terminal or the wrapper runs as it is: nothing is written, nothing is said to it. */
export type Program = Pick<Launch, 'argv' | 'env'>

/** One line for an agent. Writing one with an id that was written before is free. */
export interface Message {
  id: string
  line: string
}

/** What a person decided about something the agent asked. */
export interface Answer {
  allow: boolean
  text?: string
}

/**
 * How a client is spoken to. Where a conversation stands is a pure fold of what was printed and sent, so that a server
 * which takes a session up again knows it from the files.
 */
export interface Dialogue<State extends object = object> {
  /** Before anything was said. Plain data: it is kept beside the transcript. */
  begin(request: LaunchRequest): State
  step(state: State, line: string, stream: Stream): State
  /** What the protocol wants said now. */
  due(state: State): readonly Message[]
  /** The client waits for input that will not come: let go of it. */
  isOver(state: State): boolean
  /** A person's words as the client takes them; undefined: it cannot take any now. */
  say(state: State, id: string, text: string): Message | undefined
  /** The words that go with a refusal reach the model in the answer itself. Other notes are said to it afterwards. */
  readonly refusesInWords?: boolean
  /** A person's answer to what the client asked under this id; undefined: it is no longer asked. */
  answer?(state: State, id: string, answer: Answer): Message | undefined
  /** Makes it stop what it does and wait for words, until which it is not over; undefined: it is doing nothing now. */
  interrupt?(state: State, id: string): Message | undefined
}

/** What a file would become, or became: its old and new text, or what changed between them. */
export interface Edit {
  /** As the agent names it. */
  path: string
  /** The part that is replaced; null: the agent does not tell. */
  old_text: string | null
  /** What takes its place, or the whole file; null: the agent tells a diff. */
  new_text: string | null
  diff: string | null
}

/** The one language all transcripts are read in. `within` names the tool call of a helper that it happened in. */
export type AgentEvent =
  | { type: 'started'; conversation: string | null; model: string | null }
  /** A piece goes on where the piece before it stopped. */
  | { type: 'text'; text: string; piece?: true; within?: string }
  | { type: 'thinking'; text: string; piece?: true; within?: string }
  /** Said again once more of the call is known than when it began. */
  | { type: 'tool_call'; id: string; name: string; input: unknown; edits?: Edit[]; again?: true; within?: string }
  | { type: 'tool_result'; id: string; output: string; failed: boolean; edits?: Edit[]; within?: string }
  /**
   * 'estimate': as far as it is known while the agent works; told again of the same thing (`of`) it takes the place of
   * what was told before, and the next 'more' or 'total' that of all of them. Where a client tells what it used in two
   * ways, each is a `meter` of its own: the one that has seen more is right.
   */
  | {
      type: 'usage'
      usage: Partial<Usage>
      counts: 'more' | 'total' | 'estimate'
      of?: string
      model?: string
      meter?: string
    }
  /** How full the context window is; null: not told this time. */
  | { type: 'context'; used: number | null; window: number | null; model?: string }
  /** How much of what the provider grants in a time is used up. */
  | { type: 'provider_window'; name: string; used_percent: number; resets_at: string | null }
  /** The provider refused or did not answer, and the client tries again; `again`: more is known of a try told before. */
  | {
      type: 'retry'
      attempt: number
      of: number | null
      why: string
      /** Of HTTP, as the provider answered. */
      status?: number
      /** Until the next try. */
      wait_seconds?: number
      again?: true
    }
  | { type: 'rate_limit'; until: string | null; text: string }
  | { type: 'permission'; id: string; tool: string; input: unknown; edits?: Edit[]; call?: string; denied: boolean }
  | { type: 'question'; id: string; text: string }
  | { type: 'said'; id: string; text: string }
  /** A person had it stop what it did. */
  | { type: 'interrupted'; id: string }
  | { type: 'result'; ok: boolean; text: string; reason: string | null }
  | { type: 'error'; text: string }
  /** Something is not as it should be, and the agent works all the same. */
  | { type: 'warning'; text: string }
  | { type: 'raw'; text: string }

export type Stream = 'stdout' | 'stderr' | 'sent'

export interface Usage {
  input_tokens: number
  output_tokens: number
  /** What of the output was thought, where the client tells. */
  reasoning_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  turns: number
  cost_usd: number
  /** Answers of which nobody was told what they used. */
  untold_answers: number
}

/** How full the model's context window is. */
export interface Context {
  used_tokens: number
  peak_tokens: number
  window_tokens: number | null
}

/** Why a session was started. */
export type SessionReason =
  | 'first'
  | 'retry'
  | 'resume'
  | 'conflict'
  | 'reopen'
  | 'fork'
  | 'hand_over'
  | 'takeover'
  | 'children'

export type Outcome =
  | 'completed'
  | 'blocked'
  | 'limited'
  | 'handed_over'
  | 'rate_limited'
  | 'stalled'
  | 'lost'
  | 'failed'
  | 'parked'
  | 'cancelled'

/** How a process ended. `code` is null when nobody recorded it: the machine or the wrapper died. */
export interface Exit {
  code: number | null
}

/** One of the ways in which a client tells what it used. */
export interface Meter {
  /** All of it, estimates included. */
  usage: Usage
  /** Without those of the newest estimates that may still be told again. */
  base: Usage
  /** Without any estimate. */
  settled: Usage
  /** The newest estimates, by what they are of; null: the truth about it is known. */
  estimates: Readonly<Record<string, (Usage & { model: string | null }) | null>>
}

/** What is remembered of a transcript while it is read: small, whatever its length. */
export interface Digest {
  conversation: string | null
  /** As the client names it. */
  model: string | null
  /** By the meter that has seen most. */
  usage: Usage
  meters: Readonly<Record<string, Meter>>
  context: Context | null
  /** Of the provider, by name. */
  windows: Readonly<Record<string, { usedPercent: number; resetsAt: string | null }>>
  lastText: string
  /** The last event was a piece of text: the next one may go on from it. */
  speaking: boolean
  /** The last line that was no event: where a client that fails early says why. */
  lastRaw: string
  /** Of the newest turn; null again once another one starts. */
  result: Extract<AgentEvent, { type: 'result' }> | null
  rateLimit: Extract<AgentEvent, { type: 'rate_limit' }> | null
  /** The newest try that the client told of; null again once the conversation goes on. */
  retry: Extract<AgentEvent, { type: 'retry' }> | null
  lastError: string | null
  /** How many tools were called and have not answered. */
  openTools: number
  events: number
}

export interface Ending {
  outcome: Outcome
  reason: string
  /** What a person can do about it, where that is not the usual. */
  try?: string
  /** For rate_limited: when to try again, if the client said. */
  until?: string
  /** For lost: it was nobody's fault, and does not count. */
  uncounted?: boolean
  /** For failed: the client ended before it took up the conversation it was to go on with, because it has none such. */
  forgotten?: boolean
}

export interface Model {
  name: string
  alias?: string
}
