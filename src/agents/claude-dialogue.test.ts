import { expect, test } from 'vitest'
import { claudeDialogue as dialogue } from './claude-dialogue.ts'
import type { LaunchRequest } from './contract.ts'

const CONVERSATION = '7c9e6679-7425-40de-944b-e07fc1f90ae7'
const begun = () => dialogue.begin({ directory: '/s', prompt: 'Do "it".' } as LaunchRequest)
const INIT = '{"type":"system","subtype":"init","session_id":"s","model":"m"}'
const RESULT = '{"type":"result","subtype":"success","is_error":false,"result":"Done."}'

test('the prompt is due until it has gone', () => {
  const [message] = dialogue.due(begun())
  expect(JSON.parse(message!.line).message.content).toBe('Do "it".')
  expect(dialogue.due(dialogue.step(begun(), message!.line, 'sent'))).toEqual([])
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
