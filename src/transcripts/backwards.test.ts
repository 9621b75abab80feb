import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { endOf, TranscriptBackwards } from './backwards.ts'
import type { Offsets } from './moments.ts'
import { Times } from './moments.ts'
import { type Line, START, STREAMS, TranscriptReader } from './reader.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'flotilla-transcript-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

const print = (stream: string, text: string): void => appendFileSync(join(directory, stream), text)
const size = (stream: string): number => statSync(join(directory, stream), { throwIfNoEntry: false })?.size ?? 0
const sizes = (): Offsets => ({ sent: size('sent'), stdout: size('stdout'), stderr: size('stderr') })

function forwards(from: Offsets = START, final = true): Line[] {
  const reader = new TranscriptReader(directory, from)
  const all: Line[] = []
  for (let lines = reader.read(final); lines.length; lines = reader.read(final)) all.push(...lines)
  reader.close()
  return all
}

function backwards(upTo: Offsets): Line[] {
  const reader = new TranscriptBackwards(directory, upTo)
  const all: Line[] = []
  for (let line = reader.previous(); line; line = reader.previous()) all.unshift(line)
  reader.close()
  return all
}

/** Random numbers that are the same for the same seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

function printAtRandom(seed: number, lines: number): void {
  const random = randomFrom(seed)
  const times = new Times(directory)
  for (let n = 0; n < lines; n++) {
    const stream = STREAMS[random(3)]!
    const text = `${n} ${'ü🚢'.repeat(random(random(20) === 0 ? 40_000 : 30))}\n`
    const cut = random(text.length)
    print(stream, text.slice(0, cut).toWellFormed())
    if (random(3) === 0) times.note(1000 + n, sizes())
    print(stream, text.slice(cut).toWellFormed())
    if (random(3) === 0) times.note(1000 + n, sizes())
  }
}

test.each([1, 2, 3])('read backwards, a transcript is the same the other way round (seed %i)', seed => {
  printAtRandom(seed, 400)
  print('stdout', 'no end')
  const all = forwards()
  expect(all).toHaveLength(401)
  expect(backwards(endOf(directory, true))).toEqual(all)
  for (const cut of [0, 1, 133, 270, 399]) {
    expect(backwards(all[cut]!.next)).toEqual(all.slice(0, cut + 1))
    expect(forwards(all[cut]!.next)).toEqual(all.slice(cut + 1))
  }
})

test('whatever place it is cut at, nothing is missing and nothing is there twice', () => {
  printAtRandom(4, 300)
  const all = forwards()
  // The positions that a live reader may have: all of one stream first.
  const random = randomFrom(5)
  for (let n = 0; n < 30; n++) {
    const ends = STREAMS.map(stream => {
      const of = all.filter(line => line.stream === stream)
      return [stream, random(5) ? of[random(of.length)]!.next[stream] : 0]
    })
    const place = Object.fromEntries(ends) as Offsets
    const both = [...backwards(place), ...forwards(place)].map(({ stream, start, text }) => ({ stream, start, text }))
    expect(both).toHaveLength(all.length)
    expect(new Set(both.map(line => `${line.stream} ${line.start} ${line.text}`)).size).toBe(all.length)
  }
})

test('what is still being printed is not the end of the transcript', () => {
  print('stdout', 'whole\nhal')
  print('stderr', 'only half')
  expect(endOf(directory, false)).toEqual({ sent: 0, stdout: 6, stderr: 0 })
  expect(endOf(directory, true)).toEqual({ sent: 0, stdout: 9, stderr: 9 })
  expect(forwards(START, false).map(line => line.text)).toEqual(['whole'])
})

test('a line longer than memory should hold comes in pieces that add up to it', () => {
  const bytes = 20 * 1024 * 1024
  writeFileSync(join(directory, 'stdout'), `first\n${'x'.repeat(bytes)}\nlast\n`)
  const lines = backwards(endOf(directory, true)).map(line => line.text)
  expect(lines[0]).toBe('first')
  expect(lines.at(-1)).toBe('last')
  expect(lines.slice(1, -1).reduce((sum, text) => sum + text.length, 0)).toBe(bytes)
})

test('times that make no sense cost the order, and no line', () => {
  for (let n = 0; n < 50; n++) print(n % 2 ? 'stdout' : 'stderr', `${n}\n`)
  const noise = Array.from({ length: 3000 }, (_, n) => `${n} 0 ${(n * 7) % 140} ${(n * 3) % 140}\nnonsense\n1 2 3\n`)
  writeFileSync(join(directory, 'times'), noise.join(''))
  const texts = (lines: Line[]) => lines.map(line => line.text).toSorted()
  const all = texts(forwards())
  expect(all).toHaveLength(50)
  expect(texts(backwards(endOf(directory, true)))).toEqual(all)
})

test('a server that reads a transcript again from its beginning does not tell other times', () => {
  print('stdout', 'one\n')
  new Times(directory).note(1000, sizes())
  print('stdout', 'two\n')
  const next = new Times(directory)
  next.note(5000, { sent: 0, stdout: 2, stderr: 0 })
  next.note(6000, sizes())
  expect(forwards().map(line => line.at)).toEqual(['1970-01-01T00:00:01.000Z', '1970-01-01T00:00:06.000Z'])
})
