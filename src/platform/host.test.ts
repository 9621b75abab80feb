import { expect, test } from 'vitest'
import { hostOf, machineId } from './host.ts'

const home = { id: 'h1', path: '/home/a/.flotilla' }

test('a host is one machine with one home: a copy of the home elsewhere is another host', () => {
  expect(hostOf('m1', home)).toBe(hostOf('m1', { ...home }))
  const others = [hostOf('m2', home), hostOf('m1', { ...home, id: 'h2' }), hostOf('m1', { ...home, path: '/copy' })]
  expect(new Set([hostOf('m1', home), ...others]).size).toBe(4)
})

test('the machine says who it is, the same each time, and its own id is not told', () => {
  expect(machineId()).toBe(machineId())
  expect(machineId()).not.toBe('')
  expect(hostOf(machineId(), home)).not.toContain(machineId())
})
