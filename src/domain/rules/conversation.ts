import type { Edit, TranscriptEvent } from '../records/transcript.ts'

export type { TranscriptEvent }

interface Said {
  /** Of the event it begins with: stays the same however often it is read. */
  id: string
  at: string | null
  /** What is shown of it is not all: under this id there is the rest. */
  cut?: string
}

export interface TextBlock extends Said {
  kind: 'text' | 'thinking' | 'said'
  text: string
  /** More of it may come. */
  open: boolean
}

/** Lines as they were printed, several together. */
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
  /** What the fleet had to ask or to refuse before it could be used. */
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
  /** The blocks of calls by the id of the call. */
  calls: ReadonlyMap<string, number>
}

export interface Folding {
  /** What the agent says is the output of a program: line by line, not prose. */
  lines?: boolean
}

/** So many lines stand together, so that none of them is a row of its own, nor all of them one. */
const MOST_LINES = 40
const MOST_LINES_CHARS = 4000

export const NOTHING_SAID: Conversation = { blocks: [], calls: new Map() }

/**
 * What was said, as a conversation: pieces of one text together, each tool with its answer. Pure, and goes on where it
 * stopped: folding events at once or one by one comes to the same.
 */
export function fold(before: Conversation, events: readonly TranscriptEvent[], folding: Folding = {}): Conversation {
  const blocks = [...before.blocks]
  const calls = new Map(before.calls)
  const add = (block: Block) => {
    if (block.kind === 'tool') calls.set(block.call, blocks.length)
    blocks.push(block)
  }
  const change = (index: number, block: Block) => {
    blocks[index] = block
  }
  for (const event of events) {
    const last = blocks.length - 1
    const latest = blocks[last]
    const isOutput = event.type === 'raw' || (event.type === 'text' && folding.lines)
    if (isOutput) {
      const text = 'text' in event ? event.text : ''
      if (latest?.kind === 'lines' && latest.stream === event.stream && hasRoom(latest, text) && !event.cut)
        change(last, { ...latest, lines: [...latest.lines, text] })
      else add({ ...placed(event), kind: 'lines', stream: event.stream, lines: [text] })
      continue
    }
    switch (event.type) {
      case 'text':
      case 'thinking': {
        const open = event.piece === true
        if (open && latest?.kind === event.type && latest.open)
          change(last, { ...latest, ...cutOf(event), text: latest.text + event.text })
        else if (event.text.trim()) add({ ...placed(event), kind: event.type, text: event.text, open })
        break
      }
      case 'said':
        add({ ...placed(event), kind: 'said', text: event.text, open: false })
        break
      case 'tool_call': {
        const index = calls.get(event.id)
        const known = index === undefined ? undefined : (blocks[index] as ToolBlock)
        const edits = event.edits ?? known?.edits ?? []
        if (known && index !== undefined && event.again)
          change(index, { ...known, ...cutOf(event), name: event.name, input: event.input, edits })
        else
          add({
            ...placed(event),
            ...{ kind: 'tool', call: event.id, name: event.name, input: event.input, edits, leave: null, result: null },
          })
        break
      }
      case 'tool_result': {
        const { output, failed, at, edits } = event
        const result = { output, failed, at, ...cutOf(event) }
        const index = calls.get(event.id)
        if (index !== undefined) {
          const called = blocks[index] as ToolBlock
          change(index, { ...called, edits: called.edits.length ? called.edits : (edits ?? []), result })
        } else
          add({
            ...placed(event),
            ...{ kind: 'tool', call: event.id, name: '', input: null, edits: edits ?? [], leave: null, result },
          })
        break
      }
      case 'permission': {
        const index = event.call === undefined ? undefined : calls.get(event.call)
        const leave = event.denied ? 'denied' : 'asked'
        if (index !== undefined) change(index, { ...(blocks[index] as ToolBlock), leave })
        else
          add({
            ...placed(event),
            ...{ kind: 'tool', call: event.call ?? event.id, name: event.tool, input: event.input },
            ...{ edits: event.edits ?? [], leave, result: null },
          })
        break
      }
      default: {
        const note = noteOf(event)
        if (note) add({ ...placed(event), kind: 'note', ...note })
      }
    }
  }
  return { blocks, calls }
}

const cutOf = (event: TranscriptEvent): { cut?: string } => (event.cut ? { cut: event.event_id } : {})
const placed = (event: TranscriptEvent) => ({ id: event.event_id, at: event.at, ...cutOf(event) })

const hasRoom = ({ lines, cut }: LinesBlock, text: string): boolean =>
  !cut && lines.length < MOST_LINES && lines.reduce((sum, line) => sum + line.length, text.length) < MOST_LINES_CHARS

/** What is worth a line of its own; undefined: only figures, which are shown elsewhere. */
function noteOf(event: TranscriptEvent): Pick<NoteBlock, 'tone' | 'text'> | undefined {
  switch (event.type) {
    case 'error':
      return { tone: 'bad', text: event.text }
    case 'warning':
      return { tone: 'warning', text: event.text }
    case 'rate_limit':
      return { tone: 'bad', text: `The provider refuses${event.until ? ` until ${event.until}` : ''}: ${event.text}` }
    case 'retry':
      if (event.again) return undefined
      return { tone: 'quiet', text: `Tries again (${event.attempt}${event.of ? ` of ${event.of}` : ''}): ${event.why}` }
    case 'question':
      return { tone: 'asks', text: event.text }
    case 'interrupted':
      return { tone: 'asks', text: 'You interrupted it.' }
    case 'result':
      return event.ok ? undefined : { tone: 'bad', text: event.text || event.reason || 'The agent says it failed.' }
    default:
      return undefined
  }
}

/** Which block shows an event: its own, that of the call it answers, or the one it went into. */
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
