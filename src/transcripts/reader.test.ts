import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Times } from './moments.ts'
import { cursorOf, LineTail, offsetsOf, START, TranscriptReader } from './reader.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'flotilla-transcript-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

const print = (stream: string, text: string | Buffer): void => appendFileSync(join(directory, stream), text)
const texts = (lines: { text: string }[]): string[] => lines.map(line => line.text)

test('a line is handed out when it is whole, and characters are never cut in two', () => {
  const tail = new LineTail(join(directory, 'stdout'), 0)
  expect(tail.read(Infinity)).toEqual([])
  const bytes = Buffer.from('grüße 🚢\nnext')
  for (const byte of bytes) {
    print('stdout', Buffer.from([byte]))
    const lines = tail.read(Infinity)
    if (lines.length) expect(lines).toEqual([{ text: 'grüße 🚢', next: bytes.indexOf('\n') + 1 }])
  }
  expect(tail.offset).toBe(bytes.indexOf('\n') + 1)
  expect(tail.rest()?.text).toBe('next')
  tail.close()
})

test('a line longer than memory should hold comes in pieces that add up to it', () => {
  writeFileSync(join(directory, 'stdout'), Buffer.concat([Buffer.alloc(20 * 1024 * 1024, 'x'), Buffer.from('\nend\n')]))
  const tail = new LineTail(join(directory, 'stdout'), 0)
  const lines = tail.read(Infinity)
  expect(lines.length).toBeGreaterThan(2)
  expect(lines.slice(0, -1).reduce((sum, line) => sum + line.text.length, 0)).toBe(20 * 1024 * 1024)
  expect(lines.at(-1)?.text).toBe('end')
  tail.close()
})

test('the streams are read in the order things happened', () => {
  const times = new Times(directory)
  print('stdout', 'one\n')
  times.note(1000, { sent: 0, stdout: 4, stderr: 0 })
  print('stderr', 'oops\n')
  times.note(2000, { sent: 0, stdout: 4, stderr: 5 })
  print('stdout', 'two\n')
  times.note(3000, { sent: 0, stdout: 8, stderr: 5 })
  print('stdout', 'three without an end')

  const reader = new TranscriptReader(directory, START)
  const read: { text: string; at: string | null }[] = []
  for (let lines = reader.read(true); lines.length; lines = reader.read(true)) read.push(...lines)
  expect(texts(read)).toEqual(['one', 'oops', 'two', 'three without an end'])
  expect(read.map(line => line.at)).toEqual([
    '1970-01-01T00:00:01.000Z',
    '1970-01-01T00:00:02.000Z',
    '1970-01-01T00:00:03.000Z',
    null,
  ])
  reader.close()
})

test('times that cannot be written are no end of anything, and are noted once they can be', () => {
  const times = new Times(directory)
  const file = join(directory, 'times')
  mkdirSync(file)
  expect(() => times.note(1, { sent: 0, stdout: 1, stderr: 0 })).not.toThrow()
  rmSync(file, { recursive: true })
  // As a full disk leaves it: half a line.
  writeFileSync(file, '1 0')
  times.note(2, { sent: 0, stdout: 1, stderr: 0 })
  expect(readFileSync(file, 'utf8')).toBe('1 0\n2 0 1 0\n')
  print('stdout', 'a\n')
  const reader = new TranscriptReader(directory, START)
  expect(texts(reader.read(true))).toEqual(['a'])
  reader.close()
})

test('reading goes on from any cursor without a gap or a line twice', () => {
  for (let n = 0; n < 200; n++) print(n % 3 ? 'stdout' : 'stderr', `line ${n}\n`)
  const all: { text: string; next: typeof START }[] = []
  const reader = new TranscriptReader(directory, START)
  for (let lines = reader.read(true); lines.length; lines = reader.read(true)) all.push(...lines)
  reader.close()
  expect(all).toHaveLength(200)
  for (const cut of [0, 1, 77, 150, 199]) {
    const again = new TranscriptReader(directory, offsetsOf(cursorOf(all[cut]!.next)))
    const rest: string[] = []
    for (let lines = again.read(true); lines.length; lines = again.read(true)) rest.push(...texts(lines))
    again.close()
    expect([...texts(all.slice(0, cut + 1)), ...rest].toSorted()).toEqual(texts(all).toSorted())
  }
})

test('a growing transcript is followed, and half a line waits for its end', () => {
  const reader = new TranscriptReader(directory, START)
  print('stdout', 'a\nb')
  expect(texts(reader.read(false))).toEqual(['a'])
  expect(reader.read(false)).toEqual([])
  print('stdout', 'c\n')
  expect(texts(reader.read(false))).toEqual(['bc'])
  reader.close()
})

test('a cursor that is none begins at the beginning', () => {
  for (const cursor of [undefined, '', 'nonsense', '1-2', '-1-0-0', '99999999999999999-0-0'])
    expect(offsetsOf(cursor)).toEqual(START)
})
