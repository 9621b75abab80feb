import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterEach, describe, expect, test } from 'vitest'
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

let close = () => {}
afterEach(() => close())

describe.each(['here', 'by a small process'])('%s', where => {
  const open = async () => {
    if (where === 'here') return
    const spawner = openSpawner()
    close = spawner.close
    await spawner.ready
  }

  test('a program gets its input and environment, and what it prints and how it ends comes back', async () => {
    await open()
    const ran = await runProgram(sh('cat; echo $SAID; echo oh >&2; exit 3', { input: 'one\0two ' }))

    expect(ran).toMatchObject({ code: 3, stderr: 'oh\n' })
    expect(ran.stdout).toEqual(Buffer.from('one\0two hello\n'))
  })

  test('one that prints too much or takes too long is ended', async () => {
    await open()
    const [flood, sloth] = await Promise.all([
      runProgram(sh('exec yes')),
      runProgram(sh('exec sleep 60', { timeoutMs: 50 })),
    ])

    expect(flood.stopped).toBe('truncated')
    expect(flood.stdout.length).toBe(1000)
    expect(sloth.stopped).toBe('too long')
  })

  test('one that cannot be started says so', async () => {
    await open()
    const missing = { ...sh(''), command: '/no/such/program' }

    expect((await runProgram(missing)).failure).toMatch(/ENOENT/)
    await expect(startProgram(missing)).rejects.toThrow(/ENOENT/)
  })

  test('one that is left to itself is known by its pid until it is over', async () => {
    await open()
    const { pid, over } = await startProgram(sh('exec sleep 60'))
    expect(parentOf(pid) === process.pid).toBe(where === 'here')

    process.kill(pid, 'SIGKILL')
    await over
  })
})

test('when the small process is gone, callers get an error and the next programs start here', async () => {
  const spawner = openSpawner()
  await spawner.ready
  close = spawner.close
  const running = runProgram(sh('exec sleep 60'))
  const { pid, over } = await startProgram(sh('exec sleep 60'))

  close()

  await over
  expect((await running).failure).toMatch(/was ended/)
  expect((await runProgram(sh('echo here'))).stdout.toString()).toBe('here\n')
  process.kill(pid, 'SIGKILL')
})

test('until it is there, programs are started here', async () => {
  const spawner = openSpawner()
  close = spawner.close
  expect((await runProgram(sh('echo here'))).stdout.toString()).toBe('here\n')
})

test('an argument that no program can get is a failure and does not end the process', async () => {
  const spawner = openSpawner()
  await spawner.ready
  close = spawner.close
  expect((await runProgram({ ...sh(''), args: ['\0'] })).failure).toBeTruthy()
  expect((await runProgram(sh('echo there'))).stdout.toString()).toBe('there\n')
})
