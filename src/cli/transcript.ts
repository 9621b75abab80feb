import type { AgentEvent, Stream, TranscriptEnd, TranscriptEvent } from '../domain/records/transcript.ts'
import { cut } from '../platform/safe-text.ts'
import type { Terminal } from './terminal.ts'

/** What `stream_session` says; null: it is alive. */
export type SessionItem = TranscriptEvent | TranscriptEnd | null

/** A terminal scrolls: everything is shown whole. */
export const WHOLE = { max_chars: 8 * 1024 * 1024 }

export type Shown = AgentEvent & { stream?: Stream }

const MAX_INPUT_WIDTH = 160

/** A transcript as a person wants to see it. What an agent says in pieces is put together, and shown line by line. */
export class Showing {
  readonly #terminal: Terminal
  #unfinished = ''

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  /** What can be shown now that this has come. */
  take(item: Shown): string[] {
    if (item.type === 'usage') return []
    if (item.type !== 'text' || !item.piece) return [...this.rest(), ...this.#lines(item)]
    const text = this.#unfinished + item.text
    const end = text.lastIndexOf('\n') + 1
    this.#unfinished = text.slice(end)
    return this.#lines({ type: 'text', text: text.slice(0, end) })
  }

  /** What was left unfinished, once nothing more comes of it. */
  rest(): string[] {
    const text = this.#unfinished
    this.#unfinished = ''
    return this.#lines({ type: 'text', text })
  }

  #lines(item: Shown): string[] {
    const line = shown(this.#terminal, item)
    return line === undefined ? [] : [line]
  }
}

/** A line of a transcript as a person wants to see it; undefined: nothing worth a line. */
function shown(terminal: Terminal, item: Shown): string | undefined {
  const say = (text: string): string | undefined => terminal.foreign(text.trimEnd()) || undefined
  switch (item.type) {
    case 'text':
      return say(item.text)
    case 'raw':
      return item.stream === 'stderr' ? dim(terminal, item.text) : say(item.text)
    case 'thinking':
      return dim(terminal, item.text)
    case 'tool_call':
      return (
        terminal.paint('cyan', `▸ ${terminal.foreign(item.name)}`) +
        terminal.paint('dim', ` ${terminal.foreign(summary(item.input))}`)
      )
    case 'tool_result':
      return item.failed ? terminal.paint('red', `  ✗ ${terminal.foreign(firstLine(item.output))}`) : undefined
    case 'error':
      return terminal.paint('red', terminal.foreign(item.text))
    case 'warning':
      return terminal.paint('yellow', `Warning: ${terminal.foreign(item.text)}`)
    case 'rate_limit':
      return terminal.paint(
        'yellow',
        `Rate limit: ${terminal.foreign(item.text)}${item.until ? ` (until ${item.until})` : ''}`,
      )
    case 'retry':
      if (item.again) return undefined
      return dim(terminal, `Trying again (${item.attempt}${item.of ? ` of ${item.of}` : ''}): ${item.why}`)
    case 'permission':
      return terminal.paint(
        'yellow',
        `${item.denied ? 'Not allowed' : 'Asks to use'}: ${terminal.foreign(`${item.tool} ${summary(item.input)}`)}`,
      )
    case 'question':
      return terminal.paint('yellow', `Asks: ${terminal.foreign(item.text)}`)
    case 'said':
      return terminal.paint('blue', `> ${terminal.foreign(item.text)}`)
    case 'interrupted':
      return terminal.paint('blue', '> (interrupted)')
    case 'result':
      return item.ok
        ? undefined
        : terminal.paint('red', terminal.foreign(item.text || item.reason || 'The agent says it failed.'))
    case 'started':
    case 'usage':
    case 'context':
    case 'provider_window':
      return undefined
  }
}

const dim = (terminal: Terminal, text: string): string | undefined =>
  terminal.paint('dim', terminal.foreign(text.trimEnd())) || undefined
const firstLine = (text: string): string => text.trim().split('\n', 1)[0] ?? ''

/** What a tool was called with, on one line: a lone text as it is, anything else as JSON. */
function summary(input: unknown): string {
  const values = input && typeof input === 'object' ? Object.values(input) : [input]
  const text = values.length === 1 && typeof values[0] === 'string' ? values[0] : JSON.stringify(input ?? '')
  return cut(text.replace(/\s+/g, ' '), MAX_INPUT_WIDTH)
}
