/** The steps of the scripted model, the same for every client. Each wire format maps them to the client's own tools. */
export type Step = (
  | { say: string }
  | { write: string; content: string }
  | { edit: string; from: string; to: string }
  | { read: string }
  | { run: string }
  /**
   * Any tool by its own name, such as mcp__server__tool. `{{mission_id}}` is replaced by that field of an earlier
   * result.
   */
  | { tool: string; input: Record<string, unknown> }
  /** Ends the turn without any text. */
  | { stop: true }
  /** Never answers: this request, or so many before the next step. */
  | { hang: true; times?: number }
  /** Answers with this status instead of the next step: `times` times, or for ever. */
  | { fail: number; times?: number; retryAfter?: number }
) & {
  /** Thinking before the step. */
  think?: string
  /** Sent with the answer. Providers report the usage of their windows there. */
  headers?: Record<string, string>
  /** The reported usage; small figures by default. Reasoning is part of the output. */
  tokens?: Partial<Tokens>
  /** The answer begins and never ends. */
  cut?: true
}

export interface Tokens {
  input: number
  output: number
  reasoning: number
  cacheRead: number
  cacheWrite: number
}

export const NO_TOKENS: Tokens = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 }

/** The reported usage of a turn, for wires that can report all of it. */
export const tokensOf = ({ tokens }: Turn): Tokens => ({ ...NO_TOKENS, input: 100, output: 20, ...tokens })

export type Failure = Extract<Step, { fail: number }> | { hang: true; times: number }
export type Turn = Exclude<Step, Extract<Step, { fail: number }>>

const MARK = '[[steps]] '

/** The line that makes the scripted model do this. Put it on a line of its own in a prompt; the rest is ignored. */
export function steps(...script: Step[]): string {
  return MARK + JSON.stringify(script)
}

/** The newest script in a text. It begins a line, so a script inside a step of another one is not mistaken for it. */
export function scriptIn(text: string): { line: string; script: Step[] } | undefined {
  const line = text
    .split('\n')
    .findLast(each => each.startsWith(MARK))
    ?.slice(MARK.length)
  return line === undefined ? undefined : { line, script: parse(line) }
}

// A client may add text after the script on the same line. The script ends at its own bracket.
function parse(line: string): Step[] {
  for (let end = line.lastIndexOf(']'); end >= 0; end = line.lastIndexOf(']', end - 1)) {
    try {
      return JSON.parse(line.slice(0, end + 1)) as Step[]
    } catch {}
  }
  throw new Error(`not a script: ${line.slice(0, 200)}`)
}

export interface Moment {
  turn: Turn
  /** Failures before the turn. Each happens as often as it says, and then comes the turn. */
  failures: Failure[]
}

const isFailure = (step: Step): step is Step & Failure => 'fail' in step || ('hang' in step && step.times !== undefined)

/** The step after this many model turns. A failure is no turn, because the client requests the same turn again. */
export function momentAt(script: readonly Step[], turnsTaken: number): Moment {
  let failures: Failure[] = []
  let turn = 0
  for (const step of script) {
    if (isFailure(step)) {
      failures.push(step)
      continue
    }
    if (turn === turnsTaken) return { turn: step, failures }
    turn++
    failures = []
  }
  return { turn: { say: 'Done.' }, failures: turn === turnsTaken ? failures : [] }
}
