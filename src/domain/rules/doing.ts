import type { TranscriptEvent } from '../records/transcript.ts'
import { type Block, fold, NOTHING_SAID } from './conversation.ts'

const MAX_CHARS = 200
/** The fields that people know a tool by. */
const KNOWN = ['command', 'file_path', 'filePath', 'path', 'pattern', 'query', 'url', 'description', 'title']

/** A message of a client that its adapter does not know. */
const MESSAGE = /^\s*\{"/

/** What an agent does now, in one line: its tool, or the last line that it said. */
export function doing(events: readonly TranscriptEvent[], lines: boolean): string | null {
  return fold(NOTHING_SAID, events, { lines }).blocks.reduceRight<string | null>(
    (found, block) => found ?? of(block, lines),
    null,
  )
}

function of(block: Block, isScript: boolean): string | null {
  switch (block.kind) {
    case 'tool':
      return block.name ? short([block.name, subject(block.input)].filter(Boolean).join(' · ')) : null
    case 'text':
      return short(lastLine(block.text))
    case 'lines':
      return short(lastLine(block.lines.filter(line => isScript || !MESSAGE.test(line)).join('\n')))
    case 'thinking':
      return 'Thinking'
    default:
      return null
  }
}

/** The field that people know a tool by: its command, its file, its address. */
export function subject(input: unknown): string {
  if (typeof input === 'string') return input
  if (typeof input !== 'object' || input === null) return ''
  const field = KNOWN.find(each => typeof (input as Record<string, unknown>)[each] === 'string')
  return field ? String((input as Record<string, unknown>)[field]) : ''
}

const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1)!

function short(text: string): string | null {
  const line = text
    .slice(0, 4 * MAX_CHARS)
    .replace(/\s+/g, ' ')
    .trim()
  return line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS - 1)}…` : line || null
}
