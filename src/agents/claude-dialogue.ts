import { createHash } from 'node:crypto'
import { readClaude } from './claude-read.ts'
import type { Dialogue, Message, TranscriptEvent } from './contract.ts'

interface State {
  id: string
  prompt: string
  /** The prompt has gone: nothing is due any more. */
  told: boolean
  /** The last turn has its result, and no other has begun. */
  over: boolean
  /** What it asks permission for, by the name of the request: the input it would use. */
  asked: Record<string, unknown>
}

/** Lines of stream-json: the prompt first, then whatever a person says, at any time. */
export const claudeDialogue: Dialogue<State> = {
  begin: ({ directory, prompt }) => ({ id: `${directory}/prompt`, prompt, told: false, over: false, asked: {} }),
  step(state, line, stream) {
    if (stream === 'sent') return { ...state, told: true, asked: without(state.asked, answeredIn(line)) }
    return readClaude(line, stream).reduce(after, state)
  },
  due: ({ told, id, prompt }) => (told ? [] : [encode(id, prompt)]),
  // Messages already in the fifo are still read: letting go of it loses none.
  isOver: ({ over }) => over,
  say: (_state, id, text) => encode(id, text),
  answer(state, id, { allow, text }) {
    if (!(id in state.asked)) return undefined
    const decision = allow
      ? { behavior: 'allow', updatedInput: state.asked[id] }
      : { behavior: 'deny', message: text ?? 'The person in charge does not allow this.' }
    const response = { subtype: 'success', request_id: id, response: decision }
    return { id: `answer-${uuidOf(id)}`, line: JSON.stringify({ type: 'control_response', response }) }
  },
}

function after(state: State, event: TranscriptEvent): State {
  switch (event.type) {
    case 'started':
      return { ...state, over: false }
    case 'result':
      return { ...state, over: true }
    case 'permission':
      return event.denied ? state : { ...state, asked: { ...state.asked, [event.id]: event.input } }
    default:
      return state
  }
}

function answeredIn(line: string): string | undefined {
  try {
    return (JSON.parse(line) as { response?: { request_id?: string } }).response?.request_id
  } catch {
    return undefined
  }
}

function without(asked: State['asked'], id: string | undefined): State['asked'] {
  return id === undefined ? asked : Object.fromEntries(Object.entries(asked).filter(([name]) => name !== id))
}

/** The client takes a message with an id it has seen as the same message, so that sending it again does no harm. */
function encode(id: string, text: string): Message {
  const uuid = uuidOf(id)
  return { id: uuid, line: JSON.stringify({ type: 'user', uuid, message: { role: 'user', content: text } }) }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The client knows things by UUIDs only: another id always becomes the same one. */
export function uuidOf(id: string): string {
  if (UUID.test(id)) return id
  const hash = createHash('sha256').update(id).digest('hex')
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `a${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-')
}
