import { createHash } from 'node:crypto'
import type { AgentEvent, Answer, Dialogue, Image, Message } from '../contract.ts'
import { type Json, object, parseObject, string, text } from '../json.ts'
import { ASKING_TOOL, answersTo, questionsIn } from './questions.ts'
import { readClaude } from './read.ts'

interface Asked {
  tool: string
  input: unknown
}

interface State {
  id: string
  prompt: string
  /** Absent if an earlier version began the conversation. */
  images?: readonly Image[]
  /** The prompt was sent, so nothing is due any more. */
  told: boolean
  /** A turn is running. */
  working: boolean
  /** The last turn has its result, and no other has begun. */
  over: boolean
  /** Its open requests, by id. */
  asked: Record<string, Asked>
  /** After an interruption: what it waits for. First any message, then the one on its way. */
  waitsFor: string | null
  /** The last message it took. */
  heard: string | null
}

const ANY_WORDS = 'words'

/** The client reads lines of stream-json: the prompt first, then messages at any time. */
export const claudeDialogue: Dialogue<State> = {
  begin: ({ directory, prompt, images }) => ({
    ...{ id: `${directory}/prompt`, prompt, images, told: false, working: false, over: false },
    ...{ asked: {}, waitsFor: null, heard: null },
  }),
  step(state, line, stream) {
    if (stream === 'sent') return afterSaying(state, parseObject(line) ?? {})
    const message = stream === 'stdout' ? parseObject(line) : undefined
    return readClaude(line, stream).reduce(
      after,
      message?.type === 'control_request' ? withRequest(state, message) : state,
    )
  },
  due: ({ told, id, prompt, images }) => (told ? [] : [encode(id, prompt, images)]),
  // Messages already in the fifo are still read, so closing it loses none.
  isOver: ({ over, waitsFor }) => over && !waitsFor,
  say: (_state, id, text, images) => encode(id, text, images),
  showsImages: true,
  refusesInWords: true,
  answer(state, id, answer) {
    const asked = state.asked[id]
    if (!asked) return undefined
    const response = { subtype: 'success', request_id: id, response: decision(asked, answer) }
    return { id: `answer-${uuidOf(id)}`, line: JSON.stringify({ type: 'control_response', response }) }
  },
  interrupt({ working }, id) {
    const line = JSON.stringify({ type: 'control_request', request_id: id, request: { subtype: 'interrupt' } })
    return working ? { id: `interrupt-${uuidOf(id)}`, line } : undefined
  },
}

function decision({ tool, input }: Asked, { allow, text: words }: Answer): Json {
  if (!allow) return { behavior: 'deny', message: words ?? 'The person in charge does not allow this.' }
  const questions = tool === ASKING_TOOL ? questionsIn(input) : undefined
  if (!questions) return { behavior: 'allow', updatedInput: input }
  return { behavior: 'allow', updatedInput: { ...object(input), answers: answersTo(questions, words ?? '') } }
}

function afterSaying(state: State, message: Json): State {
  const said = { ...state, told: true, asked: without(state.asked, text(object(message.response)?.request_id)) }
  if (message.type === 'control_request') return { ...said, waitsFor: ANY_WORDS }
  if (message.type !== 'user' || !state.waitsFor) return said
  // The files of a transcript are read one after the other, so the answer may be read before the message.
  return { ...said, waitsFor: message.uuid === state.heard ? null : string(message.uuid) }
}

function withRequest(state: State, message: Json): State {
  const { subtype, tool_name, input = null } = object(message.request) ?? {}
  if (subtype !== 'can_use_tool') return state
  return { ...state, asked: { ...state.asked, [text(message.request_id)]: { tool: text(tool_name), input } } }
}

function after(state: State, event: AgentEvent): State {
  switch (event.type) {
    case 'started':
      return { ...state, working: true, over: false }
    case 'result':
      return { ...state, working: false, over: true }
    case 'said':
      return { ...state, heard: event.id, waitsFor: state.waitsFor === event.id ? null : state.waitsFor }
    default:
      return state
  }
}

const without = (asked: State['asked'], id: string): State['asked'] =>
  Object.fromEntries(Object.entries(asked).filter(([name]) => name !== id))

/** The client ignores a message whose id it has seen, so sending it again does no harm. */
function encode(id: string, text: string, images: readonly Image[] = []): Message {
  const uuid = uuidOf(id)
  const shown = images.map(({ type, file }) => ({
    type: 'image',
    source: { type: 'base64', media_type: type, data: file },
  }))
  const content = shown.length ? [...shown, { type: 'text', text }] : text
  return {
    id: uuid,
    line: JSON.stringify({ type: 'user', uuid, message: { role: 'user', content } }),
    ...(images.length && { files: images.map(({ file }) => file) }),
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The client accepts UUIDs only. Any other id always becomes the same UUID. */
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
