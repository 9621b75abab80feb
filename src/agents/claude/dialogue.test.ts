import { expect, test } from 'vitest'
import type { LaunchRequest } from '../contract.ts'
import { claudeDialogue as dialogue } from './dialogue.ts'

const CONVERSATION = '7c9e6679-7425-40de-944b-e07fc1f90ae7'
const begun = () => dialogue.begin({ directory: '/s', prompt: 'Do "it".' } as LaunchRequest)
const INIT = '{"type":"system","subtype":"init","session_id":"s","model":"m"}'
const RESULT = '{"type":"result","subtype":"success","is_error":false,"result":"Done."}'

test('the prompt is due until it has gone', () => {
  const [message] = dialogue.due(begun())
  expect(JSON.parse(message!.line).message.content).toBe('Do "it".')
  expect(dialogue.due(dialogue.step(begun(), message!.line, 'sent'))).toEqual([])
})

test('images come before the prompt, as files that are put in on the way', () => {
  const image = { file: '/s/images/1.png', type: 'image/png' } as const
  const [message] = dialogue.due(
    dialogue.begin({ directory: '/s', prompt: 'Do it.', images: [image] } as unknown as LaunchRequest),
  )
  expect(message!.files).toEqual([image.file])
  expect(JSON.parse(message!.line).message.content).toEqual([
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: image.file } },
    { type: 'text', text: 'Do it.' },
  ])
})

test('it is over with a result, until another turn begins', () => {
  const read = (...lines: string[]) => lines.reduce((state, line) => dialogue.step(state, line, 'stdout'), begun())
  expect(dialogue.isOver(begun())).toBe(false)
  expect(dialogue.isOver(read(INIT))).toBe(false)
  expect(dialogue.isOver(read(INIT, RESULT))).toBe(true)
  expect(dialogue.isOver(read(INIT, RESULT, 'noise'))).toBe(true)
  expect(dialogue.isOver(read(INIT, RESULT, INIT))).toBe(false)
})

test('a message keeps its id however often it is made, and is one line', () => {
  const say = (id: string, text: string) => dialogue.say(begun(), id, text)!
  expect(say('m1', 'hi')).toEqual(say('m1', 'hi'))
  expect(say('m1', 'hi').id).not.toBe(say('m2', 'hi').id)
  expect(say(CONVERSATION, 'hi').id).toBe(CONVERSATION)
  expect(say('m1', 'two\nlines').line).not.toContain('\n')
})

const sent =
  (...lines: string[]) =>
  (state: ReturnType<typeof begun>) =>
    lines.reduce((before, line) => dialogue.step(before, line, 'sent'), state)
const printed =
  (...lines: string[]) =>
  (state: ReturnType<typeof begun>) =>
    lines.reduce((before, line) => dialogue.step(before, line, 'stdout'), state)

test('interrupted, it is not over before it has taken the words that follow, in whatever order the files are read', () => {
  const working = printed(INIT)(begun())
  const stop = dialogue.interrupt!(working, 'i1')!.line
  const go = dialogue.say(working, 'm1', 'Go on.')!
  const heard = JSON.stringify({ type: 'user', uuid: go.id, isReplay: true, message: { content: 'Go on.' } })
  expect(dialogue.interrupt!(begun(), 'i1')).toBeUndefined()
  expect(dialogue.interrupt!(printed(RESULT)(working), 'i1')).toBeUndefined()

  const stopped = printed(RESULT)(sent(stop)(working))
  expect(dialogue.isOver(stopped)).toBe(false)
  const told = sent(go.line)(stopped)
  expect(dialogue.isOver(told)).toBe(false)
  expect(dialogue.isOver(printed(INIT, heard, RESULT)(told))).toBe(true)
  expect(dialogue.isOver(sent(stop, go.line)(printed(RESULT, INIT, heard, RESULT)(working)))).toBe(true)
  expect(dialogue.isOver(sent(stop)(printed(RESULT)(working)))).toBe(false)
})

test('its own questions are answered by words, one line for each', () => {
  const questions = [{ question: 'Which?', options: [{ label: 'A' }] }, { question: 'How many?' }]
  const request = { subtype: 'can_use_tool', tool_name: 'AskUserQuestion', input: { questions } }
  const asked = printed(JSON.stringify({ type: 'control_request', request_id: 'r1', request }))(begun())
  const input = (text: string) =>
    JSON.parse(dialogue.answer!(asked, 'r1', { allow: true, text })!.line).response.response.updatedInput
  expect(input('A\n7')).toEqual({ questions, answers: { 'Which?': 'A', 'How many?': '7' } })
  expect(input('As you like')).toMatchObject({ answers: { 'Which?': 'As you like', 'How many?': 'As you like' } })
  expect(dialogue.answer!(asked, 'r1', { allow: false, text: 'No time.' })!.line).toContain('No time.')
})
