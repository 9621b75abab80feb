import type { Edit, TranscriptEvent } from '../records/transcript.ts'

interface Said {
  /** The id of its first event, so it is the same on every read. */
  id: string
  at: string | null
  /** Set if only a part is shown: the id under which all of it can be read. */
  cut?: string
}

export interface TextBlock extends Said {
  kind: 'text' | 'thinking' | 'said'
  text: string
  /** More of it may come. */
  open: boolean
}

/** Printed lines, several in one block. */
export interface LinesBlock extends Said {
  kind: 'lines'
  stream: TranscriptEvent['stream']
  lines: string[]
}

export interface ToolBlock extends Said {
  kind: 'tool'
  call: string
  name: string
  input: unknown
  edits: readonly Edit[]
  /** Whether a person was asked for permission to use it, or it was denied. */
  leave: 'asked' | 'denied' | null
  result: { output: string; failed: boolean; at: string | null; cut?: string } | null
}

export interface NoteBlock extends Said {
  kind: 'note'
  tone: 'bad' | 'warning' | 'asks' | 'quiet'
  text: string
}

export type Block = TextBlock | LinesBlock | ToolBlock | NoteBlock

export interface Conversation {
  blocks: readonly Block[]
  /** The index of each call's block, by the id of the call. */
  calls: ReadonlyMap<string, number>
}

export interface Folding {
  /** The agent's text is the output of a program: separate lines, not prose. */
  lines?: boolean
}

/** One block holds at most this many lines. A row for every line, or one row for all, would be hard to read. */
const MOST_LINES = 40
const MOST_LINES_CHARS = 4000

export const NOTHING_SAID: Conversation = { blocks: [], calls: new Map() }

/**
 * Folds events into a conversation: pieces of one text are joined, and each tool call gets its result. It is pure and
 * can continue from an earlier result: all events at once or one by one give the same conversation.
 */
export function fold(before: Conversation, events: readonly TranscriptEvent[], folding: Folding = {}): Conversation {
  const blocks = [...before.blocks]
  const calls = new Map(before.calls)
  const indexOf = (id: string): number => calls.get(id) ?? -1
  for (const event of events) {
    const latest = blocks.at(-1)
    const step = stepOf(event, latest, id => blocks[indexOf(id)] as ToolBlock | undefined, folding)
    if (!step) continue
    const { block, before: known } = step
    if (known) blocks[known === latest ? blocks.length - 1 : indexOf((known as ToolBlock).call)] = block
    else {
      if (block.kind === 'tool') calls.set(block.call, blocks.length)
      blocks.push(block)
    }
  }
  return { blocks, calls }
}

/** A new block, or one that replaces an earlier block. */
export interface Step {
  block: Block
  before?: Block
}

/** How one event changes a conversation; undefined: it only has figures, which are shown elsewhere. */
export function stepOf(
  event: TranscriptEvent,
  latest: Block | undefined,
  called: (id: string) => ToolBlock | undefined,
  { lines = false }: Folding = {},
): Step | undefined {
  switch (event.type) {
    case 'text':
      return lines ? printed(event, latest) : spoken(event, latest)
    case 'thinking':
      return spoken(event, latest)
    case 'raw':
      return printed(event, latest)
    case 'said':
      return { block: { ...placed(event), kind: 'said', text: event.text, open: false } }
    case 'tool_call': {
      const before = event.again && called(event.id)
      const told = { name: event.name, input: event.input, edits: event.edits ?? (before ? before.edits : []) }
      if (before) return { block: { ...before, ...cutOf(event), ...told }, before }
      return { block: { ...placed(event), kind: 'tool', call: event.id, ...told, leave: null, result: null } }
    }
    case 'tool_result': {
      const { id, output, failed, at, edits = [] } = event
      const result = { output, failed, at, ...cutOf(event) }
      const before = called(id)
      if (before) return { block: { ...before, edits: before.edits.length ? before.edits : edits, result }, before }
      return { block: { ...placed(event), kind: 'tool', call: id, name: '', input: null, edits, leave: null, result } }
    }
    case 'permission': {
      const { id, call = id, tool: name, input, edits = [] } = event
      const leave = event.denied ? 'denied' : 'asked'
      const before = event.call === undefined ? undefined : called(event.call)
      if (before) return { block: { ...before, leave }, before }
      return { block: { ...placed(event), kind: 'tool', call, name, input, edits, leave, result: null } }
    }
    default: {
      const note = noteOf(event)
      return note && { block: { ...placed(event), kind: 'note', ...note } }
    }
  }
}

type Of<T extends TranscriptEvent['type']> = Extract<TranscriptEvent, { type: T }>

function spoken(event: Of<'text' | 'thinking'>, latest: Block | undefined): Step | undefined {
  const open = event.piece === true
  if (open && latest?.kind === event.type && latest.open)
    return { block: { ...latest, ...cutOf(event), text: latest.text + event.text }, before: latest }
  return event.text.trim() ? { block: { ...placed(event), kind: event.type, text: event.text, open } } : undefined
}

function printed(event: Of<'text' | 'raw'>, latest: Block | undefined): Step {
  const { text, stream } = event
  if (latest?.kind === 'lines' && latest.stream === stream && hasRoom(latest, text) && !event.cut)
    return { block: { ...latest, lines: [...latest.lines, text] }, before: latest }
  return { block: { ...placed(event), kind: 'lines', stream, lines: [text] } }
}

const cutOf = (event: TranscriptEvent): { cut?: string } => (event.cut ? { cut: event.event_id } : {})
const placed = (event: TranscriptEvent) => ({ id: event.event_id, at: event.at, ...cutOf(event) })

const hasRoom = ({ lines, cut }: LinesBlock, text: string): boolean =>
  !cut && lines.length < MOST_LINES && lines.reduce((sum, line) => sum + line.length, text.length) < MOST_LINES_CHARS

/** A note for an event that is worth its own line; undefined: it only has figures, which are shown elsewhere. */
function noteOf(event: TranscriptEvent): Pick<NoteBlock, 'tone' | 'text'> | undefined {
  switch (event.type) {
    case 'error':
      return { tone: 'bad', text: event.text }
    case 'warning':
      return { tone: 'warning', text: event.text }
    case 'rate_limit':
      return { tone: 'bad', text: `Rate limit${event.until ? ` until ${event.until}` : ''}: ${event.text}` }
    case 'retry':
      if (event.again) return undefined
      return { tone: 'quiet', text: `Retrying (${event.attempt}${event.of ? ` of ${event.of}` : ''}): ${event.why}` }
    case 'question':
      return { tone: 'asks', text: `Asks: ${event.text}` }
    case 'interrupted':
      return { tone: 'asks', text: 'Interrupted by a person.' }
    case 'result':
      return event.ok
        ? undefined
        : { tone: 'bad', text: event.text || event.reason || 'The agent reports that it failed.' }
    default:
      return undefined
  }
}

/** The block that shows an event: its own, the one of the call it answers, or the one it was joined to. */
export function blockShowing(
  { blocks, calls }: Conversation,
  events: readonly TranscriptEvent[],
  eventId: string,
): number | undefined {
  let at = events.findLastIndex(({ event_id }) => event_id === eventId)
  const event = events[at]
  if (!event) return undefined
  const called = event.type === 'tool_result' ? calls.get(event.id) : undefined
  if (called !== undefined) return called
  const starts = new Map(blocks.map((block, index) => [block.id, index]))
  for (; at >= 0; at--) {
    const index = starts.get(events[at]!.event_id)
    if (index !== undefined) return index
  }
  return undefined
}
