/**
 * An adapter says what the fleet knows about a coding agent, and how it is started and read. This file has types only
 * and imports none, because it is also published as a part of `flotilla/plugin`.
 */

/** A coding agent as the fleet sees it. Everything is pure and synchronous except `detect` and `listModels`. */
export interface Adapter {
  /** Lower-case letters, digits and `-`. */
  readonly name: string
  readonly title?: string
  /** The key by which rate limits and capacity are counted. Without one, its own name. */
  readonly provider?: string
  readonly models?: readonly Model[]
  /** Asks the client for the names of its models. Absent: it cannot say. */
  listModels?(environment: Environment): Promise<string[]>
  detect(environment: Environment): Promise<Detected>
  /**
   * Throws with a sentence for a person if the client cannot keep to the request, such as a preset it cannot enforce.
   */
  launch(request: LaunchRequest): Launch
  /**
   * The client's own interactive program on an earlier conversation, and what it needs besides the person's
   * environment. Present only if `can.takeOver`.
   */
  interactive?(opening: Opening): Program
  /** Turns one line into events. Never throws: an unknown line comes out as raw. */
  read(line: string, stream: Stream): AgentEvent[]
  readonly dialogue?: Dialogue
  /** Its own folders, which it must be able to write inside the sandbox too. Each begins with / or ~/. */
  readonly folders?: readonly string[]
  /** How the session ended. Several clients exit with 0 on failure. */
  outcome(digest: Digest, exit: Exit): Ending
}

export type Environment = Readonly<Record<string, string | undefined>>

export type ToolPreset = 'full' | 'implement' | 'review' | 'test' | 'explore' | 'fix'

/** A server reached over HTTP. Values may name environment variables: `Bearer ${TOKEN}`. */
export interface HttpServer {
  url: string
  headers: Record<string, string>
}

/** A server that the client starts and talks to over standard input and output. Values may name variables too. */
export interface StdioServer {
  command: readonly [string, ...string[]]
  env: Record<string, string>
}

export type McpServer = HttpServer | StdioServer

/** What an agent can do, as `fleet agents` shows it. Nothing else is offered. */
export interface Capabilities {
  resume: boolean
  fork: boolean
  /**
   * 'mid-turn': a message reaches a working agent; 'next-turn': it reaches the agent after its turn; 'no': not at all.
   */
  liveMessages: 'mid-turn' | 'next-turn' | 'no'
  /** It can stop its work and stay, so that a person can say how to go on. */
  interrupt: boolean
  /**
   * Who enforces a limit of turns: the client, or we from outside. 'no': it does not report turns, so a limit is
   * refused.
   */
  turnLimit: 'client' | 'outside' | 'no'
  budgetLimit: boolean
  /**
   * 'money': it reports its cost. 'priced': it reports tokens, and the table of prices gives the cost if it has the
   * model. 'tokens': it reports tokens without a price. 'none': it reports nothing. 'free': it costs nothing.
   */
  cost: 'money' | 'priced' | 'tokens' | 'none' | 'free'
  /** When it reports usage. A budget can only stop spending that is reported during work. */
  usage: 'while working' | 'at the end' | 'never'
  /** Whether it reports while it works how full its context window is. */
  contextWindow: boolean
  /** A person can be asked about what the preset does not allow, and the agent waits for the answer. */
  approvals: boolean
  /** It can ask a person questions and go on with the answer. Like approvals, only if approvals are `ask`. */
  questions: boolean
  /** The presets that the client itself enforces. */
  presets: readonly ToolPreset[]
  /** Further presets that the operating system's sandbox enforces, if there is one; see runner/sandbox. */
  sandboxed: readonly ToolPreset[]
  customTools: boolean
  /** The levels of effort it knows; none: it has no such setting. */
  effort: readonly string[]
  /** How it reaches MCP servers. 'stdio': it only starts programs, so the fleet's own server comes through a bridge. */
  mcp: 'http' | 'stdio' | 'no'
  /** It keeps running when the server dies, and the next server adopts it. */
  adopted: boolean
  /** A person can continue its conversation in their own terminal: see `interactive`. */
  takeOver: boolean
  /** A person can work with it from elsewhere: see `remote`. */
  remoteControl: boolean
  /**
   * How a stuck agent is noticed. 'conversation': it reports its text and its tools as they begin, so silence without a
   * running tool means that its model does not answer. 'processes': the work of its processes counts as well.
   */
  life: 'conversation' | 'processes'
  /**
   * It runs the text of a mission as a program. It runs only if the author names it for that text, and is never a
   * default.
   */
  scripts: boolean
  /** It takes the images of a mission together with its prompt. */
  images: boolean
}

export interface Detected {
  installed: boolean
  path?: string
  version?: string
  /** undefined: the client does not say. */
  signedIn?: boolean
  /** What is missing and how to get it. */
  advice?: string
  /** The command to run in a terminal for it. */
  command?: string
}

/** Everything an adapter may need to start a session. Paths are absolute. */
export interface LaunchRequest {
  reason: SessionReason
  /** The whole prompt with everything added to it, also written to `promptFile`. */
  prompt: string
  /** The mission's own prompt, byte for byte. */
  script: string
  promptFile: string
  /** What it is shown together with the prompt. Empty unless `can.images`, and if it continues a conversation that has them. */
  images: readonly Image[]
  /** The session's own directory. The files of the launch are written there. */
  directory: string
  workingDirectory: string
  model: string | null
  /** One of `can.effort`. */
  effort: string | null
  preset: ToolPreset
  allowedTools: readonly string[] | null
  maxTurns: number | null
  maxBudgetUsd: number | null
  systemPrompt: string
  /** The id for a new conversation, if the client lets us choose. */
  conversation: string
  /** The conversation to continue. */
  resumes: string | null
  /** Continue a copy of it, and leave the original as it is. */
  forks: boolean
  /** What happens when the agent wants more than its preset allows: a person is asked, or it is denied. */
  approvals: 'ask' | 'deny'
  /** Values may name variables of the agent's environment. */
  mcpServers: Readonly<Record<string, McpServer>>
  /** The environment of the server. An adapter passes on what its client needs; nothing else reaches the client. */
  environment: Environment
}

/** A picture as a file that the client can read. */
export interface Image {
  file: string
  type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
}

export interface Launch {
  argv: readonly [string, ...string[]]
  env: Record<string, string>
  /** Files by name, in the session's directory. Only the owner can read them unless a mode is given. */
  files: Record<string, string | { content: string; mode: number }>
  /** 'fifo': messages reach the agent through its standard input, as its dialogue says. */
  stdin: 'none' | 'fifo'
}

/** What a person's own terminal needs to open a conversation. */
export type Opening = Pick<LaunchRequest, 'conversation' | 'model' | 'preset'>

/** A program that the terminal or the wrapper runs as it is, without files or messages. */
export type Program = Pick<Launch, 'argv' | 'env'>

/** One line for an agent. Writing the same id again does nothing. */
export interface Message {
  id: string
  line: string
  /**
   * Paths that are values in the line. On its way to the client each becomes the content of its file, in Base64. The
   * transcript keeps the path. Not for adapters of plugins.
   */
  files?: readonly string[]
}

/** A person's decision about a question of the agent. */
export interface Answer {
  allow: boolean
  text?: string
}

/**
 * How to talk to a client. The state is a pure fold of what was printed and sent, so a server that adopts a session
 * rebuilds it from the files.
 */
export interface Dialogue<State extends object = object> {
  /** The state at the beginning. It is plain data and is kept beside the transcript. */
  begin(request: LaunchRequest): State
  step(state: State, line: string, stream: Stream): State
  /** The messages that the protocol requires now. */
  due(state: State): readonly Message[]
  /** The client waits for input that will not come, so its standard input can be closed. */
  isOver(state: State): boolean
  /** A person's message in the client's form; undefined: it cannot take one now. */
  say(state: State, id: string, text: string, images?: readonly Image[]): Message | undefined
  /** `say` takes images. Where this is absent, none are given to it. */
  readonly showsImages?: boolean
  /** A refusal can carry words to the model. Other clients are told the words afterwards. */
  readonly refusesInWords?: boolean
  /** A person's answer to the request with this id; undefined: the client no longer asks. */
  answer?(state: State, id: string, answer: Answer): Message | undefined
  /** Makes it stop and wait for a message; until then it is not over. undefined: it does nothing now. */
  interrupt?(state: State, id: string): Message | undefined
}

/** The change of a file: its old and new text, or a diff. */
export interface Edit {
  /** As the agent names it. */
  path: string
  /** The part that is replaced; null: the agent does not say. */
  old_text: string | null
  /** The new text of that part, or the whole file; null: the agent gives a diff. */
  new_text: string | null
  diff: string | null
}

/** The common form of all transcripts. `within` is the tool call of the helper in which it happened. */
export type AgentEvent =
  | { type: 'started'; conversation: string | null; model: string | null }
  /** A piece continues the text of the piece before it. */
  | { type: 'text'; text: string; piece?: true; within?: string }
  | { type: 'thinking'; text: string; piece?: true; within?: string }
  /** `again`: more is known about a call that was reported before. */
  | { type: 'tool_call'; id: string; name: string; input: unknown; edits?: Edit[]; again?: true; within?: string }
  | { type: 'tool_result'; id: string; output: string; failed: boolean; edits?: Edit[]; within?: string }
  /**
   * 'estimate': the usage known while the agent works. A later estimate of the same thing (`of`) replaces it, and the
   * next 'more' or 'total' replaces all estimates. If a client reports usage in two ways, each is a `meter`, and the
   * one with the higher figures counts.
   */
  | {
      type: 'usage'
      usage: Partial<Usage>
      counts: 'more' | 'total' | 'estimate'
      of?: string
      model?: string
      meter?: string
    }
  /** How full the context window is; null: not reported this time. */
  | { type: 'context'; used: number | null; window: number | null; model?: string }
  /** How much of the provider's quota for a window is used. */
  | { type: 'provider_window'; name: string; used_percent: number; resets_at: string | null }
  /**
   * The provider refused or did not answer, and the client retries. `again`: more is known about a try that was
   * reported before.
   */
  | {
      type: 'retry'
      attempt: number
      of: number | null
      why: string
      /** The HTTP status of the provider. */
      status?: number
      /** Seconds until the next try. */
      wait_seconds?: number
      again?: true
    }
  | { type: 'rate_limit'; until: string | null; text: string }
  | { type: 'permission'; id: string; tool: string; input: unknown; edits?: Edit[]; call?: string; denied: boolean }
  | { type: 'question'; id: string; text: string }
  | { type: 'said'; id: string; text: string }
  /** A person interrupted it. */
  | { type: 'interrupted'; id: string }
  | { type: 'result'; ok: boolean; text: string; reason: string | null }
  | { type: 'error'; text: string }
  /** Something is wrong, but the agent continues. */
  | { type: 'warning'; text: string }
  | { type: 'raw'; text: string }

export type Stream = 'stdout' | 'stderr' | 'sent'

export interface Usage {
  input_tokens: number
  output_tokens: number
  /** The part of the output that was thinking, if the client says. */
  reasoning_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  turns: number
  cost_usd: number
  /** Answers whose usage nobody reported. */
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
  | 'mail'
  | 'terminal'
  | 'outside'

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

/** One of the ways in which a client reports usage. */
export interface Meter {
  /** All of it, estimates included. */
  usage: Usage
  /** Without the newest estimates, which may still be replaced. */
  base: Usage
  /** Without any estimate. */
  settled: Usage
  /** The newest estimates, by what they are about; null: the real figure is known. */
  estimates: Readonly<Record<string, (Usage & { model: string | null }) | null>>
}

/** What is remembered while a transcript is read. It is small, however long the transcript is. */
export interface Digest {
  conversation: string | null
  /** The name that the client uses. */
  model: string | null
  /** From the meter with the highest figures. */
  usage: Usage
  meters: Readonly<Record<string, Meter>>
  context: Context | null
  /** The provider's windows, by name. */
  windows: Readonly<Record<string, { usedPercent: number; resetsAt: string | null }>>
  lastText: string
  /** The last event was a piece of text, which the next one may continue. */
  speaking: boolean
  /** The last line that was no event. A client that fails early says there why. */
  lastRaw: string
  /** The result of the newest turn; null while another one runs. */
  result: Extract<AgentEvent, { type: 'result' }> | null
  rateLimit: Extract<AgentEvent, { type: 'rate_limit' }> | null
  /** The newest retry of the client; null once the conversation continues. */
  retry: Extract<AgentEvent, { type: 'retry' }> | null
  lastError: string | null
  /** How many tool calls have no answer yet. */
  openTools: number
  events: number
}

export interface Ending {
  outcome: Outcome
  reason: string
  /** What a person can do about it, if the usual advice does not fit. */
  try?: string
  /** For rate_limited: when to try again, if the client said. */
  until?: string
  /** For lost: it was nobody's fault and does not count. */
  uncounted?: boolean
  /** For failed: the client ended early because it does not have the conversation it should continue. */
  forgotten?: boolean
}

export interface Model {
  name: string
  alias?: string
}
