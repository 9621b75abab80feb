import { expect, test } from 'vitest'
import { aRequest, aWorkspace } from '../../../test/agents/drive.ts'
import { brokenLines } from '../../../test/agents/fuzz.ts'
import type { LaunchRequest } from '../contract.ts'
import { acpDialogue, type PermissionSettings } from './dialogue.ts'
import { readAcp } from './read.ts'

const workspace = aWorkspace()
workspace.remove()

/** A conversation that the test drives step by step. Our side sends whatever is due. */
function talk(more: Partial<LaunchRequest> = {}, permissions: PermissionSettings | null = null) {
  const dialogue = acpDialogue(permissions)
  let state = dialogue.begin(aRequest(workspace, { prompt: 'Do it.', ...more }))
  const said: { id: string; message: Record<string, unknown> }[] = []
  const hear = (message: object, stream: 'stdout' | 'sent' = 'stdout') => {
    state = dialogue.step(state, JSON.stringify({ jsonrpc: '2.0', ...message }), stream)
  }
  return {
    dialogue,
    hear,
    state: () => state,
    /** Sends what is due, as the runner does, and returns the newest message. */
    next() {
      for (const { id, line } of dialogue.due(state)) {
        said.push({ id, message: JSON.parse(line) })
        state = dialogue.step(state, line, 'sent')
      }
      return said.at(-1)?.message
    },
    said,
  }
}
type Talk = ReturnType<typeof talk>

const INITIALIZED = { id: 'initialize', result: { agentCapabilities: { sessionCapabilities: { resume: {} } } } }
const OPENED = { id: 'session', result: { sessionId: 's1' } }

function toPrompt(conversation: Talk) {
  conversation.next()
  conversation.hear(INITIALIZED)
  conversation.next()
  conversation.hear(OPENED)
  conversation.next()
}
const OPTIONS = [
  { optionId: 'always', kind: 'allow_always' },
  { optionId: 'yes', kind: 'allow_once' },
  { optionId: 'no', kind: 'reject_once' },
]
const asks = (id: number | string, kind: string) => ({
  id,
  method: 'session/request_permission',
  params: { sessionId: 's1', options: OPTIONS, toolCall: { toolCallId: 't', name: kind, kind } },
})

test('one step after the other, then the prompt, then the end', () => {
  const conversation = talk({ systemPrompt: 'Be kind.', mcpServers: { lab: { url: 'http://x', headers: { a: 'b' } } } })
  expect(conversation.next()).toMatchObject({
    method: 'initialize',
    params: { clientCapabilities: { terminal: false } },
  })
  expect(conversation.dialogue.due(conversation.state())).toEqual([])
  conversation.hear(INITIALIZED)
  expect(conversation.next()).toMatchObject({
    method: 'session/new',
    params: {
      cwd: workspace.workingDirectory,
      mcpServers: [{ type: 'http', name: 'lab', url: 'http://x', headers: [{ name: 'a', value: 'b' }] }],
    },
  })
  conversation.hear(OPENED)
  expect(conversation.next()).toMatchObject({
    method: 'session/prompt',
    params: { sessionId: 's1', prompt: [{ type: 'text', text: 'Be kind.\n\nDo it.' }] },
  })
  expect(conversation.dialogue.isOver(conversation.state())).toBe(false)
  conversation.hear({ id: 'prompt', result: { stopReason: 'end_turn' } })
  expect(conversation.dialogue.isOver(conversation.state())).toBe(true)
  expect(conversation.dialogue.due(conversation.state())).toEqual([])
  expect(conversation.said.map(({ id }) => id)).toEqual(['initialize', 'session', 'prompt'])
})

test('tools that outlive the session are taken away at its opening, under every preset, beside what is declared', () => {
  const meta = { claudeCode: { a: 1, options: { settingSources: [], disallowedTools: ['Own'] } } }
  const openedWith = (preset: LaunchRequest['preset']) => {
    const { next, hear } = talk({ preset }, { meta })
    next()
    hear(INITIALIZED)
    return next() as { params: { _meta: { claudeCode: { options: { disallowedTools: string[] } } } } }
  }
  const review = openedWith('review').params._meta
  expect(review).toMatchObject({ claudeCode: { a: 1, options: { settingSources: [], promptSuggestions: false } } })
  const taken = ['EnterWorktree', 'ScheduleWakeup', 'CronCreate', 'ListAgents', 'Workflow']
  expect(review.claudeCode.options.disallowedTools).toEqual(expect.arrayContaining(['Own', 'Agent', ...taken]))
  const { disallowedTools } = openedWith('full').params._meta.claudeCode.options
  expect(disallowedTools).toEqual(expect.arrayContaining(taken))
  expect(disallowedTools).not.toContain('Agent')
})

test('mode and model are set before the prompt, the model as the agent offers it', () => {
  const permissions = { mode: 'default', meta: { a: 1 } }
  const byRequest = talk({ preset: 'review', model: 'm' }, permissions)
  byRequest.next()
  byRequest.hear(INITIALIZED)
  expect(byRequest.next()).toMatchObject({ params: { _meta: { a: 1 } } })
  byRequest.hear(OPENED)
  expect(byRequest.next()).toMatchObject({ method: 'session/set_mode', params: { modeId: 'default' } })
  byRequest.hear({ id: 'mode', result: {} })
  expect(byRequest.next()).toMatchObject({ method: 'session/set_model', params: { modelId: 'm' } })
  byRequest.hear({ id: 'model', result: {} })
  expect(byRequest.next()).toMatchObject({ method: 'session/prompt' })

  const byOption = talk({ model: 'm' }, permissions)
  byOption.next()
  byOption.hear(INITIALIZED)
  expect(byOption.next()).not.toHaveProperty('params._meta.a')
  byOption.hear({ id: 'session', result: { sessionId: 's1', configOptions: [{ id: 'llm', category: 'model' }] } })
  expect(byOption.next()).toMatchObject({
    method: 'session/set_config_option',
    params: { configId: 'llm', value: 'm' },
  })
})

test.each([
  ['session/resume', { resumes: 'old' }, INITIALIZED, 'old'],
  ['session/load', { resumes: 'old' }, { id: 'initialize', result: {} }, 'old'],
  ['session/fork', { resumes: 'old', forks: true }, INITIALIZED, 'new'],
])('an earlier conversation by %s', (method, more, initialized, conversation) => {
  const talked = talk(more)
  talked.next()
  talked.hear(initialized)
  const opening = talked.next()!
  expect(opening).toMatchObject({ method, params: { sessionId: 'old' } })
  expect(talked.said.at(-1)!.id).toBe('session')
  talked.hear({ id: opening.id, result: conversation === 'new' ? { sessionId: 'new' } : {} })
  expect(talked.next()).toMatchObject({ method: 'session/prompt', params: { sessionId: conversation } })
})

test.each(['initialize', 'session'])('an agent that refuses at %s is let go', id => {
  const conversation = talk()
  conversation.next()
  if (id === 'session') {
    conversation.hear(INITIALIZED)
    conversation.next()
  }
  conversation.hear({ id, error: { code: -32000, message: 'no' } })
  expect(conversation.dialogue.isOver(conversation.state())).toBe(true)
  expect(conversation.dialogue.due(conversation.state())).toEqual([])
})

test('permission is given and refused by the preset, once and not for always', () => {
  const conversation = talk({ preset: 'review' }, {})
  toPrompt(conversation)
  conversation.hear(asks(0, 'read'))
  expect(conversation.next()).toMatchObject({ id: 0, result: { outcome: { outcome: 'selected', optionId: 'yes' } } })
  conversation.hear(asks('x/../y', 'edit'))
  expect(conversation.next()).toMatchObject({
    id: 'x/../y',
    result: { outcome: { optionId: 'no' }, _meta: { 'flotilla/denied': 'edit' } },
  })
  for (const { id } of conversation.said) expect(id).toMatch(/^[\w-]+$/)
  expect(conversation.dialogue.due(conversation.state())).toEqual([])
})

test('what the preset does not allow waits for a person where one is to be asked', () => {
  const conversation = talk({ preset: 'review', approvals: 'ask' }, {})
  toPrompt(conversation)
  conversation.hear(asks(0, 'edit'))
  conversation.hear(asks(1, 'read'))
  const { dialogue, state } = conversation
  expect(dialogue.answer!(state(), '1', { allow: true })).toBeUndefined()
  const answer = dialogue.answer!(state(), '0', { allow: true })!
  expect(JSON.parse(answer.line)).toMatchObject({ id: 0, result: { outcome: { optionId: 'yes' } } })
  expect(dialogue.isOver(state())).toBe(false)
  conversation.hear(JSON.parse(answer.line), 'sent')
  expect(dialogue.answer!(state(), '0', { allow: false })).toBeUndefined()
})

test('what is not offered is refused, so that nobody waits for it', () => {
  const conversation = talk()
  toPrompt(conversation)
  conversation.hear({ id: 3, method: 'fs/read_text_file', params: { path: '/etc/passwd' } })
  expect(conversation.next()).toMatchObject({ id: 3, error: { code: -32601 } })
})

test('words are taken between two turns, and only there', () => {
  const conversation = talk()
  const { dialogue, state, hear } = conversation
  expect(dialogue.say(state(), 'm1', 'Hurry.')).toBeUndefined()
  toPrompt(conversation)
  expect(dialogue.say(state(), 'm1', 'Hurry.')).toBeUndefined()
  hear({ id: 'prompt', result: { stopReason: 'end_turn' } })
  const words = dialogue.say(state(), 'm1', 'Hurry.')!
  expect(JSON.parse(words.line)).toMatchObject({ method: 'session/prompt', params: { prompt: [{ text: 'Hurry.' }] } })
  hear(JSON.parse(words.line), 'sent')
  expect(dialogue.isOver(state())).toBe(false)
  expect(dialogue.say(state(), 'm2', 'More.')).toBeUndefined()
  expect(dialogue.say(state(), 'm1', 'Hurry.'), 'saying it again is free').toEqual(words)
  hear({ id: 'say-m1', error: { code: 1, message: 'failed' } })
  expect(dialogue.isOver(state())).toBe(true)
})

test('after a crash the state is the same, whichever file is read first', () => {
  const conversation = talk({ preset: 'review' }, {})
  const printed: object[] = [INITIALIZED, OPENED, asks(0, 'edit'), asks(1, 'read')]
  for (const message of printed) {
    conversation.next()
    conversation.hear(message)
  }
  conversation.next()
  const fresh = (order: 'printed first' | 'sent first') => {
    const other = talk({ preset: 'review' }, {})
    const readPrinted = () => {
      for (const message of printed) other.hear(message)
    }
    if (order === 'printed first') readPrinted()
    for (const { message } of conversation.said) other.hear(message, 'sent')
    if (order === 'sent first') readPrinted()
    return other
  }
  for (const order of ['printed first', 'sent first'] as const) {
    const other = fresh(order)
    expect(other.dialogue.due(other.state()), order).toEqual([])
    expect(other.state().asked).toEqual([])
    expect(other.dialogue.isOver(other.state())).toBe(false)
    other.hear({ id: 'prompt', result: { stopReason: 'end_turn' } })
    expect(other.dialogue.isOver(other.state())).toBe(true)
  }
})

test('nothing an agent prints breaks it', () => {
  const lines = [INITIALIZED, OPENED, asks(0, 'edit'), { id: 'prompt', result: { stopReason: 'end_turn' } }]
  const { dialogue, state } = talk()
  let now = state()
  for (const broken of brokenLines(
    lines.map(line => JSON.stringify(line)),
    10_000,
  )) {
    now = dialogue.step({ ...now, asked: now.asked.slice(-5), answered: now.answered.slice(-5) }, broken, 'stdout')
    dialogue.due(now)
    dialogue.isOver(now)
  }
})

const PICTURE = { file: '/s/images/1.png', type: 'image/png' } as const
const WITH_IMAGES = { id: 'initialize', result: { agentCapabilities: { promptCapabilities: { image: true } } } }

test('images come before the words, as files that are put in on the way', () => {
  const conversation = talk({ images: [PICTURE] })
  conversation.next()
  conversation.hear(WITH_IMAGES)
  conversation.next()
  conversation.hear(OPENED)
  const [message] = conversation.dialogue.due(conversation.state())
  expect(message!.files).toEqual([PICTURE.file])
  expect(JSON.parse(message!.line).params.prompt).toEqual([
    { type: 'image', mimeType: 'image/png', data: PICTURE.file },
    { type: 'text', text: 'Do it.' },
  ])
})

test('an agent that offers no images is let go, and the transcript says why', () => {
  const conversation = talk({ images: [PICTURE] })
  conversation.next()
  conversation.hear(INITIALIZED)
  const [message] = conversation.dialogue.due(conversation.state())
  expect(readAcp(message!.line, 'sent')).toEqual([
    { type: 'error', text: 'It takes no images: its answer to initialize offers none.' },
  ])
  conversation.next()
  expect(conversation.dialogue.isOver(conversation.state())).toBe(true)
  expect(conversation.dialogue.due(conversation.state())).toEqual([])
})
