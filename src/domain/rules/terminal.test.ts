import { expect, test } from 'vitest'
import { requireTerminal } from './terminal.ts'

const computer = { user_agent: 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140', key: { kind: 'p256', value: '' } } as const
const phone = { ...computer, user_agent: 'Mozilla/5.0 (Linux; Android 15; Pixel 9) Chrome/140 Mobile' }
const readable = { ...computer, key: { kind: 'shared', value: '' } } as const

test('a terminal opens on computers, and on phones only if a person allowed that', () => {
  expect(() => requireTerminal(computer, 'computers')).not.toThrow()
  expect(() => requireTerminal(undefined, 'computers')).not.toThrow()
  expect(() => requireTerminal(phone, 'computers')).toThrow('not available on phones')
  expect(() => requireTerminal(readable, 'computers')).toThrow('unencrypted')
  expect(() => requireTerminal(phone, 'all')).not.toThrow()
  expect(() => requireTerminal(computer, 'off')).toThrow('turned off')
})
