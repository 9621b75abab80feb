import { expect, test } from 'vitest'
import type { TranscriptEvent } from '../records/transcript.ts'
import { type Block, blockShowing, fold, NOTHING_SAID, type ToolBlock } from './conversation.ts'

let count = 0
const event = (fields: Record<string, unknown>): TranscriptEvent =>
  ({
    event_id: `1:stdout:${count++}:0`,
    cursor: String(count),
    at: null,
    stream: 'stdout',
    ...fields,
  }) as TranscriptEvent
const text = (words: string, piece?: true) => event({ type: 'text', text: words, piece })
const call = (id: string, name = 'Bash', input: unknown = { command: 'ls' }) =>
  event({ type: 'tool_call', id, name, input })
const result = (id: string, output = 'a.txt', failed = false) => event({ type: 'tool_result', id, output, failed })
const usage = () => event({ type: 'usage', usage: {}, counts: 'more' })
const shape = (blocks: readonly Block[]) =>
  blocks.map(block => (block.kind === 'tool' ? `${block.name}=${block.result?.output}` : `${block.kind}`))

test('a call and its answer are one, however much is said in between', () => {
  const { blocks } = fold(NOTHING_SAID, [
    call('1'),
    call('2', 'Read'),
    text('Meanwhile.'),
    result('2', 'two'),
    result('1', 'one'),
  ])
  expect(shape(blocks)).toEqual(['Bash=one', 'Read=two', 'text'])
})

test('pieces of a text are one text, whatever is counted between them; a new text is another', () => {
  const { blocks } = fold(NOTHING_SAID, [
    text('One ', true),
    usage(),
    text('two.', true),
    text('Three.'),
    text('Four.'),
  ])
  expect(blocks).toMatchObject([{ text: 'One two.' }, { text: 'Three.' }, { text: 'Four.' }])
  const thinks = [event({ type: 'thinking', text: 'Hm', piece: true }), text('Aha', true), text('!', true)]
  expect(fold(NOTHING_SAID, thinks).blocks).toMatchObject([{ kind: 'thinking' }, { text: 'Aha!' }])
})

test('a call that is reported again is shown once, with everything known', () => {
  const first = call('1', 'Edit', {})
  const edits = [{ path: 'a', old_text: 'x', new_text: 'y', diff: null }]
  const more = event({ type: 'tool_call', id: '1', name: 'Edit', input: { file_path: 'a' }, edits, again: true })
  const { blocks } = fold(NOTHING_SAID, [first, more, result('1')])
  expect(blocks).toHaveLength(1)
  expect(blocks[0]).toMatchObject({ input: { file_path: 'a' }, edits, result: { output: 'a.txt' } })
})

test('a permission is shown at its call, or alone if it names no call', () => {
  const asked = event({ type: 'permission', id: 'p', tool: 'Write', input: {}, call: '1', denied: false })
  const alone = event({ type: 'permission', id: 'q', tool: 'Write', input: { a: 1 }, denied: true })
  const { blocks } = fold(NOTHING_SAID, [call('1', 'Write'), asked, alone])
  expect(blocks).toMatchObject([{ leave: 'asked' }, { leave: 'denied', input: { a: 1 } }])
})

test('all at once, one by one, or in any portions: it is the same conversation', () => {
  const events = Array.from({ length: 300 }, (_, index) => {
    const id = String(Math.floor(index / 5))
    return [call(id), text('a', true), usage(), text('b', true), result(id, 'x', index % 7 === 0)][index % 5]!
  })
  const whole = fold(NOTHING_SAID, events)
  for (const portion of [1, 7, 100]) {
    let parts = NOTHING_SAID
    for (let at = 0; at < events.length; at += portion) parts = fold(parts, events.slice(at, at + portion))
    expect(parts.blocks).toEqual(whole.blocks)
  }
})

test('what a program prints stands together in lines, not too many, and not its two streams mixed', () => {
  const out = Array.from({ length: 100 }, (_, index) => text(`line ${index}`))
  const said = fold(NOTHING_SAID, [...out, event({ type: 'raw', text: 'bad', stream: 'stderr' })], {
    lines: true,
  })
  expect(said.blocks.map(block => block.kind === 'lines' && block.lines.length)).toEqual([40, 40, 20, 1])
  expect(blockShowing(said, out, out[45]!.event_id)).toBe(1)
})

test('a result without its call is shown alone, and cuts are marked', () => {
  const { blocks } = fold(NOTHING_SAID, [{ ...result('0', 'long'), cut: true } as TranscriptEvent])
  expect((blocks[0] as ToolBlock).result?.cut).toBe(blocks[0]!.id)
})

test('what fails is seen, what only counts is not', () => {
  const failed = event({ type: 'result', ok: false, text: '', reason: 'max_turns' })
  const fine = event({ type: 'result', ok: true, text: 'Done.', reason: null })
  const { blocks } = fold(NOTHING_SAID, [usage(), fine, failed, event({ type: 'error', text: 'broken' })])
  expect(blocks).toMatchObject([
    { tone: 'bad', text: 'max_turns' },
    { tone: 'bad', text: 'broken' },
  ])
})

test('a hundred thousand events are folded while nobody notices', () => {
  const events = Array.from({ length: 100_000 }, (_, index) =>
    index % 2 ? result(`${index >> 1}`) : call(`${index >> 1}`),
  )
  const began = performance.now()
  expect(fold(NOTHING_SAID, events).blocks).toHaveLength(50_000)
  expect(performance.now() - began).toBeLessThan(3000)
})
