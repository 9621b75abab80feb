import type { TranscriptEnd, TranscriptEvent } from '../domain/records/transcript.ts'
import {
  type Block,
  type NoteBlock,
  type Step,
  stepOf,
  type TextBlock,
  type ToolBlock,
} from '../domain/rules/conversation.ts'
import { subject } from '../domain/rules/doing.ts'
import { cut } from '../platform/safe-text.ts'
import type { Terminal } from './terminal.ts'

/** An item of `stream_session`; null: the session is alive. */
export type SessionItem = TranscriptEvent | TranscriptEnd | null

/** A terminal scrolls, so everything is shown in full. */
export const WHOLE = { max_chars: 8 * 1024 * 1024 }

const MAX_INPUT_WIDTH = 160

/** Shows a conversation on a terminal: printed lines stay, and new ones are added below. */
export class Showing {
  readonly #terminal: Terminal
  #latest: Block | undefined
  readonly #calls = new Map<string, ToolBlock>()
  /** The line that the agent has not finished. */
  #unfinished: TextBlock | undefined

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  /** The lines that can be shown after this event. */
  take(event: TranscriptEvent): string[] {
    const step = stepOf(event, this.#latest, id => this.#calls.get(id))
    if (!step) return []
    const { block, before } = step
    if (block.kind === 'tool') {
      if (block.result) this.#calls.delete(block.call)
      else this.#calls.set(block.call, block)
    }
    if (!before || before === this.#latest) this.#latest = withoutWords(block)
    if ((block.kind === 'text' || block.kind === 'thinking') && block.open) return this.#go(block, before)
    const lines = linesOf(this.#terminal, step).filter(Boolean)
    return lines.length ? [...this.rest(), ...lines] : []
  }

  /** The rest of an unfinished line, once it gets no more text. */
  rest(): string[] {
    const block = this.#unfinished
    this.#unfinished = undefined
    return block ? linesOf(this.#terminal, { block }).filter(Boolean) : []
  }

  #go(piece: TextBlock, before: Block | undefined): string[] {
    const ended = before ? [] : this.rest()
    const text = (this.#unfinished?.text ?? '') + piece.text
    const end = text.lastIndexOf('\n') + 1
    this.#unfinished = { ...piece, text: text.slice(end) }
    return [...ended, ...linesOf(this.#terminal, { block: { ...piece, text: text.slice(0, end) } }).filter(Boolean)]
  }
}

/** Drops text that was printed, so that the next step has only the new text. */
function withoutWords(block: Block): Block {
  if (block.kind === 'lines') return { ...block, lines: [] }
  return block.kind === 'tool' ? block : { ...block, text: '' }
}

function linesOf(terminal: Terminal, { block, before }: Step): string[] {
  switch (block.kind) {
    case 'text':
      return [terminal.foreign(block.text.trimEnd())]
    case 'thinking':
      return [dim(terminal, block.text)]
    case 'said':
      return [terminal.paint('blue', `> ${terminal.foreign(block.text)}`)]
    case 'lines':
      return block.lines.map(line =>
        block.stream === 'stderr' ? dim(terminal, line) : terminal.foreign(line.trimEnd()),
      )
    case 'tool':
      return [toolLine(terminal, block, before as ToolBlock | undefined)]
    case 'note':
      return [noteLine(terminal, block)]
  }
}

/** What is new about a tool: it is called, somebody has to allow it, or it failed. */
function toolLine(terminal: Terminal, tool: ToolBlock, before: ToolBlock | undefined): string {
  const { name, input, leave, result } = tool
  if (leave && leave !== before?.leave) {
    const what = leave === 'denied' ? 'Not allowed' : 'Wants to use'
    return terminal.paint('yellow', `${what}: ${terminal.foreign(`${name} ${summary(input)}`)}`)
  }
  if (result) return result.failed ? terminal.paint('red', `  ✗ ${terminal.foreign(firstLine(result.output))}`) : ''
  const about = gist(input)
  if (before?.name === name && gist(before.input) === about) return ''
  return terminal.paint('cyan', `▸ ${terminal.foreign(name)}`) + terminal.paint('dim', ` ${terminal.foreign(about)}`)
}

function noteLine(terminal: Terminal, { tone, text }: NoteBlock): string {
  switch (tone) {
    case 'bad':
      return terminal.paint('red', terminal.foreign(text))
    case 'warning':
      return terminal.paint('yellow', `Warning: ${terminal.foreign(text)}`)
    case 'asks':
      return terminal.paint('yellow', terminal.foreign(text))
    case 'quiet':
      return dim(terminal, text)
  }
}

const dim = (terminal: Terminal, text: string): string => terminal.paint('dim', terminal.foreign(text.trimEnd()))
const firstLine = (text: string): string => text.trim().split('\n', 1)[0] ?? ''

/** What a tool is about. Whoever has to allow it sees all of its input instead. */
const gist = (input: unknown): string => summary(subject(input) || input)

/** The input of a tool on one line: a single text as it is, anything else as JSON. */
function summary(input: unknown): string {
  const values = input && typeof input === 'object' ? Object.values(input) : [input]
  const text = values.length === 1 && typeof values[0] === 'string' ? values[0] : JSON.stringify(input ?? '')
  return cut(text.replace(/\s+/g, ' '), MAX_INPUT_WIDTH)
}
