import { expect, test } from 'vitest'
import type { TranscriptEvent } from '../records/transcript.ts'
import { doing } from './doing.ts'

let at = 0
const event = (of: object): TranscriptEvent =>
  ({ event_id: `e${++at}`, cursor: `c${at}`, stream: 'stdout', at: null, ...of }) as TranscriptEvent
const text = (said: string, more = {}) => event({ type: 'text', text: said, ...more })

test('what an agent does is its last tool or its last line', () => {
  expect(doing([], false)).toBeNull()
  expect(doing([text('One.\nTwo.\n\n')], false)).toBe('Two.')
  expect(doing([text('Look', { piece: true }), text('ing at it', { piece: true })], false)).toBe('Looking at it')
  const call = event({ type: 'tool_call', id: 't', name: 'Bash', input: { command: 'npm  test\n-- src' } })
  expect(doing([text('x'), call], false)).toBe('Bash · npm test -- src')
  expect(doing([call, event({ type: 'tool_result', id: 't', output: 'ok', failed: false })], false)).toBe(
    'Bash · npm test -- src',
  )
  expect(doing([event({ type: 'tool_call', id: 'u', name: 'Todo', input: { items: [1] } })], false)).toBe('Todo')
  expect(doing([event({ type: 'thinking', text: 'hm' })], false)).toBe('Thinking')
  expect(doing([text('first'), text('second')], true)).toBe('second')
  expect(doing([text('x'.repeat(1000))], false)).toHaveLength(200)
})

test('figures and notes do not hide it', () => {
  const usage = event({ type: 'usage', usage: {}, counts: 'more' })
  expect(doing([text('At work'), event({ type: 'warning', text: 'slow' }), usage], false)).toBe('At work')
})

test('a message that no adapter reads is not what an agent does; what a script prints is', () => {
  const unread = event({ type: 'raw', text: '{"type":"system","subtype":"new_in_this_version"}' })
  const call = event({ type: 'tool_call', id: 't', name: 'Bash', input: { command: 'npm test' } })
  expect(doing([call, unread], false)).toBe('Bash · npm test')
  expect(doing([unread], false)).toBeNull()
  expect(doing([event({ type: 'raw', text: 'loading the model' }), unread], false)).toBe('loading the model')
  expect(doing([event({ type: 'text', text: '{"passed":3}' })], true)).toBe('{"passed":3}')
})
