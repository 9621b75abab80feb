import { expect, test } from 'vitest'
import { commandIn, completed, completingAt } from './prompt-completion.ts'

const at = (marked: string) => completingAt(marked.replace('|', ''), marked.indexOf('|'))

test('a file is completed after a sign of its own, and a command at the beginning', () => {
  expect(at('See @src/ma|in')).toEqual({ kind: 'file', from: 4, text: 'src/ma' })
  expect(at('@|')).toEqual({ kind: 'file', from: 0, text: '' })
  expect(at('line\n@a|')).toEqual({ kind: 'file', from: 5, text: 'a' })
  expect(at('me@host|')).toBeUndefined()
  expect(at('See @a b|')).toBeUndefined()
  expect(at('/pl|')).toEqual({ kind: 'command', from: 0, text: 'pl' })
  expect(at('/template a-p|')).toEqual({ kind: 'command', from: 0, text: 'template a-p' })
  expect(at('look at /etc|')).toBeUndefined()
  expect(at('/etc/hosts|')).toBeUndefined()
})

test('what is chosen replaces what was typed', () => {
  const text = 'See @ma, and go on'
  expect(completed(text, 7, { kind: 'file', from: 4, text: 'ma' }, '@src/main.ts')).toEqual({
    text: 'See @src/main.ts , and go on',
    cursor: 17,
  })
  expect(completed('/pl', 3, { kind: 'command', from: 0, text: 'pl' }, '/plan')).toEqual({ text: '/plan ', cursor: 6 })
})

test('a command is known by its name and has a text', () => {
  expect(commandIn('/plan A harbour\nfor boats ')).toEqual({ name: 'plan', text: 'A harbour\nfor boats' })
  expect(commandIn('/script echo x')).toEqual({ name: 'script', text: 'echo x' })
  for (const text of ['/plan', '/planning x', '/compact', 'plan x'])
    expect(commandIn(text)).toEqual({ name: 'run', text })
})
