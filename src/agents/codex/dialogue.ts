import type { Answer, Dialogue, Image, Message } from '../contract.ts'
import { type Json, list, object, parseObject, string, text } from '../json.ts'
import { openingOf } from './launch.ts'

/** The ids of our requests. The answers carry them. */
export const THREAD = 'thread'
export const PROMPT = 'prompt'
export const INTERRUPT = 'interrupt-'

/** A request of the client that waits for an answer. */
interface Asked {
  id: string | number
  method: string
  questions: string[]
}

interface State {
  opening: { method: string; params: Json }
  prompt: string
  /** Absent if an earlier version began the conversation. */
  images?: readonly Image[]
  /** The ids of what was sent. */
  sent: string[]
  thread: string | null
  /** The running turn, and the last one that is done. */
  turn: string | null
  done: string | null
  /** The turn requests that were sent, and those that were answered. Either may be seen first. */
  turns: { sent: string[]; answered: string[] }
  asked: Asked[]
  /** It was interrupted, and nothing was said to it since. */
  interrupted: boolean
  /** The conversation could not be begun. */
  failed: boolean
}

/**
 * Notifications that the client is told not to send. They repeat in pieces what comes as a whole later, or describe the
 * machine.
 */
const UNWANTED = [
  ...['item/agentMessage/delta', 'item/plan/delta', 'turn/diff/updated', 'remoteControl/status/changed'],
  ...['item/reasoning/textDelta', 'item/reasoning/summaryTextDelta', 'item/reasoning/summaryPartAdded'],
  ...['item/commandExecution/outputDelta', 'item/fileChange/outputDelta', 'item/fileChange/patchUpdated'],
]

const QUESTION = 'item/tool/requestUserInput'
const FOR_A_PERSON = new Set(['item/commandExecution/requestApproval', 'item/fileChange/requestApproval', QUESTION])
const isNobodys = ({ method }: Asked): boolean => !FOR_A_PERSON.has(method)

/** JSON-RPC with one message per line, as `codex app-server` speaks it. */
export const codexDialogue: Dialogue<State> = {
  begin: request => ({
    opening: openingOf(request),
    prompt: request.prompt,
    images: request.images,
    sent: [],
    thread: null,
    turn: null,
    done: null,
    turns: { sent: [], answered: [] },
    asked: [],
    interrupted: false,
    failed: false,
  }),

  step(state, line, stream) {
    const message = stream === 'stderr' ? undefined : parseObject(line)
    if (!message) return state
    if (stream === 'sent') return afterSaying(state, message)
    if ('id' in message && !message.method) return afterAnswer(state, message)
    return afterHearing(state, message)
  },

  due(state) {
    const { sent, thread, asked, prompt, images } = state
    const greeting = sent.includes(THREAD) ? [] : greet(state).filter(({ id }) => !sent.includes(id))
    const task = thread && !sent.includes(PROMPT) ? [turn(PROMPT, thread, prompt, images)] : []
    return [...greeting, ...task, ...asked.filter(isNobodys).map(refusal)]
  },

  isOver,

  say: (state, id, words, images) =>
    state.thread && !isOver(state) ? turn(`say-${id}`, state.thread, words, images) : undefined,
  showsImages: true,

  answer(state, id, answer) {
    const asked = state.asked.find(each => String(each.id) === id)
    return asked && (asked.method === QUESTION ? reply(asked, answer) : decision(asked, answer))
  },

  interrupt({ thread: threadId, turn: turnId }, id) {
    return threadId && turnId ? request(`${INTERRUPT}${id}`, 'turn/interrupt', { threadId, turnId }) : undefined
  },
}

/** Never over while a message is on its way: closing its input ends the client, even during a turn. */
function isOver({ failed, turn, done, turns, interrupted }: State): boolean {
  return (
    failed || (!interrupted && done !== null && turn === null && turns.sent.every(id => turns.answered.includes(id)))
  )
}

function afterSaying(state: State, message: Json): State {
  if (!message.method) return without(state, message.id)
  const sent = [...state.sent, string(message.id) ?? text(message.method)]
  if (message.method === 'turn/interrupt') return { ...state, sent, interrupted: true }
  if (message.method !== 'turn/start') return { ...state, sent }
  return {
    ...state,
    sent,
    interrupted: false,
    turns: { ...state.turns, sent: [...state.turns.sent, text(message.id)] },
  }
}

function afterAnswer(state: State, { id, result, error }: Json): State {
  if (id === THREAD) {
    const thread = string(object(object(result)?.thread)?.id)
    return { ...state, thread: state.thread ?? thread, failed: state.failed || (!state.thread && Boolean(error)) }
  }
  const turns = { ...state.turns, answered: [...state.turns.answered, text(id)] }
  const begun = string(object(object(result)?.turn)?.id)
  return { ...atWork(state, begun), turns, failed: state.failed || (id === PROMPT && Boolean(error)) }
}

function afterHearing(state: State, message: Json): State {
  const params = object(message.params) ?? {}
  if (typeof message.id === 'string' || typeof message.id === 'number') {
    const questions = list(params.questions).map(each => text(object(each)?.id))
    return { ...state, asked: [...state.asked, { id: message.id, method: text(message.method), questions }] }
  }
  switch (message.method) {
    case 'turn/started':
      return atWork(state, string(object(params.turn)?.id))
    case 'turn/completed':
      return { ...state, turn: null, done: text(object(params.turn)?.id) }
    case 'serverRequest/resolved':
      return without(state, params.requestId)
    default:
      return state
  }
}

/** The answer to a message that came just before the end of a turn may be printed after it. */
const atWork = (state: State, turn: string | null): State =>
  turn === state.done ? state : { ...state, turn: turn ?? state.turn }

const without = (state: State, id: unknown): State => ({ ...state, asked: state.asked.filter(each => each.id !== id) })

function request(id: string, method: string, params: Json): Message {
  return { id, line: JSON.stringify({ id, method, params }) }
}

function greet({ opening }: State): Message[] {
  const initialize = request('initialize', 'initialize', {
    clientInfo: { name: 'flotilla', title: 'Flotilla', version: '1' },
    capabilities: { experimentalApi: false, requestAttestation: false, optOutNotificationMethods: UNWANTED },
  })
  const initialized = { id: 'initialized', line: JSON.stringify({ method: 'initialized' }) }
  return [initialize, initialized, request(THREAD, opening.method, opening.params)]
}

/** Joins the running turn, or begins one. */
function turn(id: string, threadId: string, words: string, images: readonly Image[] = []): Message {
  // The client reads the files itself.
  const shown = images.map(({ file }) => ({ type: 'localImage', path: file }))
  const input = [{ type: 'text', text: words, text_elements: [] }, ...shown]
  return request(id, 'turn/start', { threadId, clientUserMessageId: id, input })
}

function answered(id: Asked['id'], outcome: Json): Message {
  return { id: `answer-${id}`, line: JSON.stringify({ id, ...outcome }) }
}

const decision = ({ id }: Asked, { allow }: Answer): Message =>
  answered(id, { result: { decision: allow ? 'accept' : 'decline' } })

function reply({ id, questions }: Asked, { text: words }: Answer): Message {
  const answers = words ? [words] : []
  return answered(id, { result: { answers: Object.fromEntries(questions.map(each => [each, { answers }])) } })
}

/** We cannot answer these: a server's form, more permissions, tools and sign-ins of other programs. */
function refusal({ id, method }: Asked): Message {
  if (method === 'mcpServer/elicitation/request')
    return answered(id, { result: { action: 'decline', content: null, _meta: null } })
  return answered(id, { error: { code: -32601, message: `Nobody here answers ${method}.` } })
}
