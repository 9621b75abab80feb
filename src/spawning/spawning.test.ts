import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openSpawner, type Program, runProgram, startProgram } from './index.ts'

const sh = (line: string, more: Partial<Program> = {}): Program => ({
  command: '/bin/sh',
  args: ['-c', line],
  cwd: tmpdir(),
  env: { PATH: process.env.PATH!, SAID: 'hello' },
  maxBytes: 1000,
  timeoutMs: 20_000,
  ...more,
})
const parentOf = (pid: number): number =>
  Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1])

const children = (): number[] =>
  readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number)
const gone = (pid: number) => vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow(), { timeout: 10_000 })

function aFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-spawning-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'messages')
}

let close = () => {}
afterEach(() => close())

describe.each(['here', 'by a small process'])('%s', where => {
  const open = () => {
    if (where === 'by a small process') close = openSpawner().close
  }

  test('a program gets its input and environment, and what it prints and how it ends comes back', async () => {
    open()
    const ran = await runProgram(sh('cat; echo $SAID; echo oh >&2; exit 3', { input: 'one\0two ' }))

    expect(ran).toMatchObject({ code: 3, stderr: 'oh\n' })
    expect(ran.stdout).toEqual(Buffer.from('one\0two hello\n'))
  })

  test('one that prints too much or takes too long is ended', async () => {
    open()
    const [flood, sloth] = await Promise.all([
      runProgram(sh('exec yes')),
      runProgram(sh('exec sleep 60', { timeoutMs: 50 })),
    ])

    expect(flood.stopped).toBe('truncated')
    expect(flood.stdout.length).toBe(1000)
    expect(sloth.stopped).toBe('too long')
  })

  test('messages go to a file, and the end of it comes back, however long it is', async () => {
    open()
    const messages = aFile()
    const env = { ...sh('').env, FILE: messages }
    // Beyond what can be read at once, without using the disk.
    const long = sh('echo "last" | dd of="$FILE" bs=5 count=1 seek=644245094 conv=notrunc status=none', {
      messages,
      env,
    })
    const short = sh('echo oh >&2; exit 3', { messages: aFile() })
    const [one, other] = await Promise.all([runProgram(long), runProgram(short)])

    expect(one.stderr).toHaveLength(64 * 1024)
    expect(one.stderr.endsWith('\0last\n')).toBe(true)
    expect(other).toMatchObject({ code: 3, stderr: 'oh\n' })
  })

  test.each(['rm "$FILE"', 'rm "$FILE"; mkdir "$FILE"', 'rm "$FILE"; mkfifo "$FILE"'])(
    'messages come back, whatever is done to their file: %s',
    async line => {
      open()
      const messages = aFile()
      const env = { ...sh('').env, FILE: messages }
      expect(await runProgram(sh(`echo oh >&2; ${line}; exit 3`, { messages, env }))).toMatchObject({
        code: 3,
        stderr: 'oh\n',
      })
      expect((await runProgram(sh('echo there'))).stdout.toString()).toBe('there\n')
    },
  )

  test('one whose file for messages becomes too long is ended', async () => {
    open()
    const messages = aFile()
    const env = { ...sh('').env, FILE: messages }
    const ran = await runProgram(sh('truncate -s 100M "$FILE"; exec sleep 60', { messages, env }))
    expect(ran.stopped).toBe('truncated')
    expect(statSync(messages).size).toBe(100 * 1024 * 1024)
  })

  test('one that cannot be started says so', async () => {
    open()
    const missing = { ...sh(''), command: '/no/such/program' }

    expect((await runProgram(missing)).failure).toMatch(/ENOENT/)
    await expect(startProgram(missing)).rejects.toThrow(/ENOENT/)
  })

  test('one that is left to itself is known by its pid until it is over', async () => {
    open()
    const { pid, over } = await startProgram(sh('exec sleep 60'))
    expect(parentOf(pid) === process.pid).toBe(where === 'here')

    process.kill(pid, 'SIGKILL')
    await over
  })
})

test('when the small process is gone, callers get an error and the next programs start here', async () => {
  close = openSpawner().close
  const running = runProgram(sh('exec sleep 60'))
  const { pid, over } = await startProgram(sh('exec sleep 60'))

  close()

  await over
  expect((await running).failure).toMatch(/was ended/)
  expect((await runProgram(sh('echo here'))).stdout.toString()).toBe('here\n')
  process.kill(pid, 'SIGKILL')
})

test('the first program waits until the small process is there and has been named', async () => {
  const named: number[] = []
  close = openSpawner({ onStart: pid => named.push(pid) }).close
  const { pid, over } = await startProgram(sh('exec sleep 60'))
  expect(named).toEqual([parentOf(pid)])
  process.kill(pid, 'SIGKILL')
  await over
})

test('a small process that never gets ready is done without', async () => {
  const named: number[] = []
  const before = children()
  close = openSpawner({ onStart: pid => named.push(pid) }).close
  const ran = runProgram(sh('echo here'))
  const [small] = children().filter(pid => !before.includes(pid))
  process.kill(small!, 'SIGKILL')
  expect((await ran).stdout.toString()).toBe('here\n')
  expect(named).toEqual([])
})

test('it leaves when it has nothing to do, and another one comes when there is something', async () => {
  const named: number[] = []
  close = openSpawner({ onStart: pid => named.push(pid), quietMs: 50 }).close
  await runProgram(sh('true'))
  await gone(named[0]!)

  expect((await runProgram(sh('echo there'))).stdout.toString()).toBe('there\n')
  expect(named).toHaveLength(2)
  expect(named[1]).not.toBe(named[0])
})

test('it stays while a program that it started runs, and tells its end', async () => {
  const named: number[] = []
  close = openSpawner({ onStart: pid => named.push(pid), quietMs: 20 }).close
  const { pid, over } = await startProgram(sh('exec sleep 60'))
  // Longer than its quiet time.
  await runProgram(sh('sleep 0.3'))
  await new Promise(resolve => setTimeout(resolve, 100))
  expect(named).toEqual([parentOf(pid)])

  process.kill(pid, 'SIGKILL')
  await over
  await gone(named[0]!)
})

test('an argument that no program can get is a failure and does not end the process', async () => {
  close = openSpawner().close
  expect((await runProgram({ ...sh(''), args: ['\0'] })).failure).toBeTruthy()
  expect((await runProgram(sh('echo there'))).stdout.toString()).toBe('there\n')
})
