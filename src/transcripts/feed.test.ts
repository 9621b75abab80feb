import { appendFileSync, mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Viewer } from './feed.ts'
import { START } from './reader.ts'

let directory: string
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'flotilla-feed-')))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const print = (text: string, stream = 'stdout'): void => appendFileSync(join(directory, stream), text)

/** How many files of the transcript this process has open. */
const openFiles = (): number =>
  readdirSync('/proc/self/fd').filter(fd => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(directory)
    } catch {
      return false
    }
  }).length

class Reading {
  readonly texts: string[] = []
  readonly viewer: Viewer
  constructor(from = START) {
    this.viewer = new Viewer(directory, from, () => {})
  }
  take(): void {
    for (let lines = this.viewer.read(); lines.length; lines = this.viewer.read())
      this.texts.push(...lines.map(({ text }) => text))
  }
  async until(count: number): Promise<string[]> {
    for (const end = performance.now() + 10_000; this.texts.length < count; await pause(5)) {
      this.take()
      if (performance.now() > end) throw new Error(`only ${this.texts.length} of ${count} lines came`)
    }
    return this.texts
  }
}

test('ten who look at one transcript cost one reader, and each gets every line once, whenever it came', async () => {
  const readings: Reading[] = []
  const expected: string[] = []
  for (let number = 0; number < 10; number++) {
    print(`line ${number}\n`)
    print(`error ${number}\n`, 'stderr')
    expected.push(`line ${number}`, `error ${number}`)
    const reading = new Reading()
    await reading.until(expected.length)
    readings.push(reading)
  }
  print('half a')
  print('told\n', 'sent')
  expected.push('told')
  for (const reading of readings) expect((await reading.until(21)).toSorted()).toEqual(expected.toSorted())
  expect(openFiles()).toBe(3)

  print(' line')
  for (const { viewer, texts } of readings) {
    for (let lines = viewer.finish(); lines.length; lines = viewer.finish())
      texts.push(...lines.map(({ text }) => text))
    expect(texts.toSorted()).toEqual([...expected, 'half a line'].toSorted())
    viewer.close()
  }
  expect(openFiles()).toBe(0)
})

test('one who reads slowly holds nobody up, misses nothing, and has no more than a part of it in memory', async () => {
  const [quick, slow] = [new Reading(), new Reading()]
  print('begun\n')
  await quick.until(1)
  await slow.until(1)
  const long = 'x'.repeat(100_000)
  for (let number = 1; number <= 30; number++) {
    print(`${number} ${long}\n`)
    await quick.until(number + 1)
  }
  await slow.until(31)
  expect(slow.texts).toEqual(quick.texts)
  // It shares the reader with the others again.
  print('more\n')
  await Promise.all([quick.until(32), slow.until(32)])
  expect(openFiles()).toBeLessThanOrEqual(3)
  quick.viewer.close()
  slow.viewer.close()
  expect(openFiles()).toBe(0)
})
