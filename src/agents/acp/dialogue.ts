import { createHash } from 'node:crypto'
import { openingMeta } from '../claude/tools.ts'
import type { Dialogue, Image, LaunchRequest, Message } from '../contract.ts'
import { type Json, list, object, parseObject, string, text } from '../json.ts'
import { asStdio, expanded, isHttp, type McpServer, serversOf } from '../mcp-servers.ts'
import { PRESETS } from '../presets.ts'
import { isAllowed } from './permission.ts'
import { DENIED, INTERRUPT, NO_IMAGES, SAID, SESSION, TAKEN_UP, toolOf } from './read.ts'

/** What makes an agent ask before it does anything harmful. */
export interface PermissionSettings {
  mode?: string
  meta?: Json
}

interface State {
  wish: Wish
  /** The requests that were sent to the agent, and those it has answered, by name. */
  told: string[]
  answered: string[]
  /** It refused a step that comes before the prompt. */
  refused: boolean
  resumes: boolean
  /** The mission has images, and the agent does not offer to take any. */
  lacksImages: boolean
  /** The agent offers to take some. Absent if an earlier version began the conversation. */
  takesImages?: boolean
  conversation: string | null
  /** The option that chooses its model; null: the model has a request of its own. */
  modelOption: string | null
  /** Its requests that we have not answered. */
  asked: Asked[]
  /** It was interrupted, and nothing was said to it since. */
  interrupted: boolean
  /** Our answers that were read before their requests: the files of a transcript are read one after the other. */
  early: string[]
}

interface Wish extends Pick<LaunchRequest, 'model' | 'preset' | 'resumes' | 'forks' | 'approvals'> {
  cwd: string
  prompt: string
  /** Absent if an earlier version began the conversation. */
  images?: readonly Image[]
  servers: LaunchRequest['mcpServers']
  permissions: PermissionSettings | null
}

interface Asked {
  id: string | number
  tool: string
  /** null: it is not a request for permission, and we offer nothing else. */
  options: { allow: string | null; reject: string | null } | null
  /** undefined: a person decides. */
  allow: boolean | undefined
}

const INITIALIZE = 'initialize'
const MODE = 'mode'
const MODEL = 'model'
const PROMPT = 'prompt'
const METHOD_NOT_FOUND = -32601

/**
 * The protocol from the first request to the end of the last turn. We offer no file system and no terminal: agents have
 * their own tools.
 */
export const acpDialogue = (permissions: PermissionSettings | null): Dialogue<State> => ({
  begin: request => ({
    wish: wishOf(request, request.preset === 'full' ? null : permissions),
    told: [],
    answered: [],
    refused: false,
    resumes: false,
    lacksImages: false,
    conversation: null,
    modelOption: null,
    asked: [],
    interrupted: false,
    early: [],
  }),
  step(state, line, stream) {
    const message = stream === 'stderr' ? undefined : parseObject(line)
    if (!message) return state
    return stream === 'sent' ? told(state, message) : heard(state, message)
  },
  due(state) {
    const next = nextRequest(state)
    const replies = state.asked.filter(({ allow }) => allow !== undefined).map(asked => reply(asked, asked.allow!))
    return next ? [...replies, next] : replies
  },
  isOver: state => state.refused || (isBetweenTurns(state) && !state.interrupted),
  // The protocol has no second prompt during a turn: some agents drop the first one for it.
  say(state, id, words, images = []) {
    const name = SAID + id
    if (state.conversation === null || !(state.told.includes(name) || isBetweenTurns(state))) return undefined
    // It is told with the next session, which says that the agent takes none.
    if (images.length && !state.takesImages) return undefined
    const files = images.map(({ file }) => file)
    return { id: name, line: prompt(name, state.conversation, words, images), ...(files.length && { files }) }
  },
  showsImages: true,
  answer(state, id, { allow }) {
    const asked = state.asked.find(each => String(each.id) === id && each.allow === undefined)
    return asked && reply(asked, allow)
  },
  interrupt(state, id) {
    const { conversation: sessionId, told } = state
    if (sessionId === null || !told.includes(PROMPT) || isBetweenTurns(state)) return undefined
    const params = { sessionId, _meta: { [INTERRUPT]: id } }
    return { id: `interrupt-${id}`, line: rpc({ method: 'session/cancel', params }) }
  },
})

function wishOf(request: LaunchRequest, permissions: PermissionSettings | null): Wish {
  const { model, preset, resumes, forks, approvals } = request
  return {
    ...{ model, preset, resumes, forks, approvals, permissions },
    cwd: request.workingDirectory,
    images: request.images,
    prompt: [request.systemPrompt, request.prompt].filter(Boolean).join('\n\n'),
    servers: Object.fromEntries(
      serversOf(request).map(([name, server]) => [name, expanded(server, request.environment)]),
    ),
  }
}

const isBetweenTurns = ({ told, answered }: State): boolean =>
  answered.includes(PROMPT) && told.every(name => answered.includes(name))

function told(state: State, message: Json): State {
  if (message.method === 'session/cancel') return { ...state, interrupted: true }
  if (message.method === NO_IMAGES) return { ...state, refused: true }
  if (message.method === 'session/prompt')
    return { ...state, interrupted: false, told: [...state.told, text(message.id)] }
  if (typeof message.method === 'string') return { ...state, told: [...state.told, text(message.id)] }
  const key = JSON.stringify(message.id)
  const asked = state.asked.filter(({ id }) => JSON.stringify(id) !== key)
  return asked.length < state.asked.length ? { ...state, asked } : { ...state, early: [...state.early, key] }
}

function heard(state: State, message: Json): State {
  if (typeof message.method === 'string') return message.id === undefined ? state : requested(state, message)
  const name = text(message.id)
  const before = { ...state, answered: [...state.answered, name] }
  const isTurn = name === PROMPT || name.startsWith(SAID)
  const result = object(message.result)
  if (!result) return { ...before, refused: state.refused || !isTurn }
  if (name === INITIALIZE)
    return {
      ...{ ...before, resumes: offersResume(result), takesImages: offersImages(result) },
      lacksImages: isShown(state.wish) && !offersImages(result),
    }
  if (name !== SESSION && !name.startsWith(TAKEN_UP)) return before
  const conversation = string(result.sessionId) ?? name.slice(TAKEN_UP.length)
  return { ...before, conversation, modelOption: modelOptionIn(result) }
}

const offersResume = (result: Json): boolean =>
  object(object(object(result.agentCapabilities)?.sessionCapabilities)?.resume) !== undefined

const isShown = ({ images = [] }: Wish): boolean => images.length > 0
const offersImages = (result: Json): boolean =>
  object(object(result.agentCapabilities)?.promptCapabilities)?.image === true

function modelOptionIn(result: Json): string | null {
  const options = list(result.configOptions).map(each => object(each) ?? {})
  return string(options.find(({ category }) => category === 'model')?.id)
}

function requested(state: State, message: Json): State {
  const id = message.id as string | number
  const key = JSON.stringify(id)
  if (state.early.includes(key)) return { ...state, early: state.early.filter(each => each !== key) }
  return { ...state, asked: [...state.asked, askedIn(state.wish, id, message)] }
}

function askedIn({ preset, approvals, servers }: Wish, id: string | number, message: Json): Asked {
  const params = object(message.params) ?? {}
  if (message.method !== 'session/request_permission') {
    return { id, tool: text(message.method), options: null, allow: false }
  }
  const call = object(params.toolCall) ?? {}
  const offered = list(params.options).map(each => object(each) ?? {})
  // Allowed once, not always: what an agent remembers would also hold for sessions under other presets.
  const option = (...kinds: string[]) =>
    string(kinds.map(kind => offered.find(each => each.kind === kind)).find(Boolean)?.optionId)
  const options = { allow: option('allow_once', 'allow_always'), reject: option('reject_once', 'reject_always') }
  const allowed = isAllowed(PRESETS[preset], Object.keys(servers), call)
  return { id, tool: toolOf(call), options, allow: allowed || approvals === 'deny' ? allowed : undefined }
}

function reply({ id, tool, options }: Asked, allow: boolean): Message {
  const name = `answer-${createHash('sha256').update(JSON.stringify(id)).digest('hex').slice(0, 32)}`
  if (!options)
    return { id: name, line: rpc({ id, error: { code: METHOD_NOT_FOUND, message: `${tool} is not offered` } }) }
  const optionId = allow ? options.allow : options.reject
  const outcome = optionId === null ? { outcome: 'cancelled' } : { outcome: 'selected', optionId }
  return { id: name, line: rpc({ id, result: allow ? { outcome } : { outcome, _meta: { [DENIED]: tool } } }) }
}

/** The next step. Each waits for the answer to the one before. */
function nextRequest(state: State): Message | undefined {
  // Better no work than work without them. The agent ignores this; it says in the transcript why it was let go.
  if (state.lacksImages) return state.refused ? undefined : { id: 'no-images', line: rpc({ method: NO_IMAGES }) }
  const next = state.refused ? undefined : stepsOf(state).find(({ name }) => !state.answered.includes(name))
  if (!next || state.told.includes(next.name)) return undefined
  const { files } = next
  return { id: next.name.split(':', 1)[0]!, line: next.line(), ...(files?.length && { files }) }
}

interface Step {
  name: string
  line(): string
  /** See `Message`. */
  files?: readonly string[]
}

function stepsOf(state: State): Step[] {
  const { wish, conversation } = state
  const { mode } = wish.permissions ?? {}
  const { model, images = [] } = wish
  return [
    { name: INITIALIZE, line: initialize },
    openingOf(state),
    ...(mode ? [{ name: MODE, line: () => setMode(conversation!, mode) }] : []),
    ...(model ? [{ name: MODEL, line: () => setModel(state, model) }] : []),
    {
      name: PROMPT,
      line: () => prompt(PROMPT, conversation!, wish.prompt, images),
      files: images.map(({ file }) => file),
    },
  ]
}

const rpc = (message: object): string => JSON.stringify({ jsonrpc: '2.0', ...message })

const initialize = (): string =>
  rpc({
    id: INITIALIZE,
    method: 'initialize',
    params: {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: 'flotilla', version: '1' },
    },
  })

/** All requests that open a new conversation. */
export const greeting = (cwd: string): string[] => [
  initialize(),
  rpc({ id: SESSION, method: 'session/new', params: { cwd, mcpServers: [] } }),
]

/**
 * Settings for the Claude Code agent, which others ignore. It passes on what its client says about each answer, because
 * the protocol reports usage only at the end of a turn. And it does not let its model suggest what a person might say
 * next, because nobody here reads that.
 */
function metaOf(permissions: PermissionSettings | null): Json {
  const own = object(permissions?.meta?.claudeCode) ?? {}
  const claudeCode = {
    emitRawSDKMessages: [{ type: 'stream_event' }, { type: 'result' }, { type: 'system', subtype: 'api_retry' }],
    ...own,
    options: { promptSuggestions: false, ...object(own.options) },
  }
  return { ...permissions?.meta, claudeCode }
}

function openingOf({ wish, resumes }: State): Step {
  const { cwd, permissions, resumes: conversation, forks } = wish
  const mcpServers = Object.entries(wish.servers).map(([name, server]) => written(name, server))
  const params = { cwd, mcpServers, _meta: openingMeta(metaOf(permissions), wish.preset) }
  const opening = (name: string, method: string, more: object = {}): Step => ({
    name,
    line: () => rpc({ id: name, method, params: { ...params, ...more } }),
  })
  if (!conversation) return opening(SESSION, 'session/new')
  const earlier = { sessionId: conversation }
  if (forks) return opening(SESSION, 'session/fork', earlier)
  // `session/load` repeats the whole conversation, so it is used only if there is nothing better.
  return opening(TAKEN_UP + conversation, resumes ? 'session/resume' : 'session/load', earlier)
}

const pairs = (values: Record<string, string>) => Object.entries(values).map(([name, value]) => ({ name, value }))

const written = (name: string, server: McpServer) =>
  isHttp(server)
    ? { type: 'http', name, url: server.url, headers: pairs(server.headers) }
    : { name, ...asStdio(server), env: pairs(server.env) }

const setMode = (sessionId: string, modeId: string): string =>
  rpc({ id: MODE, method: 'session/set_mode', params: { sessionId, modeId } })

const setModel = ({ conversation: sessionId, modelOption }: State, model: string): string =>
  modelOption === null
    ? rpc({ id: MODEL, method: 'session/set_model', params: { sessionId, modelId: model } })
    : rpc({
        id: MODEL,
        method: 'session/set_config_option',
        params: { sessionId, configId: modelOption, value: model },
      })

function prompt(id: string, sessionId: string, words: string, images: readonly Image[]): string {
  const shown = images.map(({ type, file }) => ({ type: 'image', mimeType: type, data: file }))
  return rpc({ id, method: 'session/prompt', params: { sessionId, prompt: [...shown, { type: 'text', text: words }] } })
}
