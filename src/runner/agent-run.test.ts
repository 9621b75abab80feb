import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { shell } from '../agents/shell.ts'
import { nextLaunch } from '../platform/launch-folder.ts'
import { AgentRun } from './agent-run.ts'
import { everything, isAlive, membersOf } from './processes.ts'
import type { FromRunner, LaunchOrder, Limits, ToRunner } from './protocol.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'flotilla-runner-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))

const LIMITS: Limits = { timeoutSeconds: 60, transcriptBytes: 1e6, maxTurns: null, budgetUsd: null, contextLimit: 90 }
const mark = () => `test/${root.slice(root.lastIndexOf('/') + 1)}`
const env = () => ({ PATH: process.env.PATH!, FLEET_SESSION: mark() })

/** A runner that speaks only with this test. */
class Runner {
  readonly heard: FromRunner[] = []
  readonly run = new AgentRun(
    {
      ...{ agent: shell, folder: root, mark: mark(), worktree: null, env: env(), environment: {} },
      knowledge: { costOf: () => null, windowOf: () => null },
    },
    message => this.heard.push(message),
  )

  /** Tells it something, and waits for the next message of a type. */
  async ask<T extends FromRunner['type']>(message: ToRunner, type: T): Promise<Extract<FromRunner, { type: T }>> {
    const before = this.heard.length
    this.run.hear(message)
    return this.next(type, before)
  }

  async next<T extends FromRunner['type']>(
    type: T,
    from = 0,
    is: (message: FromRunner) => boolean = () => true,
  ): Promise<Extract<FromRunner, { type: T }>> {
    for (const end = performance.now() + 20_000; ; await pause(5)) {
      const found = this.heard.slice(from).find(message => message.type === type && is(message))
      if (found) return found as Extract<FromRunner, { type: T }>
      if (performance.now() > end) throw new Error(`${type} was not said, but ${JSON.stringify(this.heard)}`)
    }
  }
}

const order = (line: string): LaunchOrder => ({
  ...{ directory: nextLaunch(root, 'agent'), files: { prompt: 'Do it.' } },
  ...{ argv: ['/bin/sh', '-c', line], cwd: root, env: env(), stdin: 'none', maxBytes: 1e6 },
})
const follow = (more: Partial<Limits> = {}): ToRunner => ({
  ...{ type: 'follow', limits: { ...LIMITS, ...more }, workedMs: 0, since: '' },
})

test('an agent is launched, followed and over, with what it printed and how it ended', async () => {
  const runner = new Runner()
  expect(await runner.ask({ type: 'adopt', process: null }, 'absent')).toEqual({ type: 'absent' })
  const launch = order('cat agent-1/prompt; echo; echo said; exit 3')
  const running = await runner.ask({ type: 'launch', launch }, 'running')
  expect(running).toMatchObject({ directory: launch.directory, adopted: false, bound: false })
  const over = await runner.ask(follow(), 'over')
  expect(over).toMatchObject({
    exit: { code: 3 },
    swept: 0,
    fault: null,
    digest: { lastText: expect.stringContaining('said') },
  })
  expect(readFileSync(join(launch.directory, 'stdout'), 'utf8')).toBe('Do it.\nsaid\n')
  expect(await runner.ask({ type: 'close' }, 'closed')).toEqual({ type: 'closed', fault: null })
})

test('what is said between the halves is plain data', async () => {
  const runner = new Runner()
  await runner.ask({ type: 'launch', launch: order('echo said; sleep 600') }, 'running')
  runner.run.hear(follow({ timeoutSeconds: 0 }))
  expect(await runner.next('limit')).toMatchObject({ limit: 'time' })
  runner.run.notice(everything())
  await runner.next('alive')
  runner.run.hear({ type: 'stop', graceMs: 1000 })
  await runner.next('over')
  expect(JSON.parse(JSON.stringify(runner.heard))).toEqual(runner.heard)
})

test('an agent that is let go of goes on, is taken up by another runner from its beginning, and stopped as a whole', async () => {
  const first = new Runner()
  const { process: agent } = await first.ask(
    { type: 'launch', launch: order('echo one; (trap "" TERM; while :; do sleep 1; done) & wait') },
    'running',
  )
  first.run.hear(follow())
  await first.next('read', 0, message => message.type === 'read' && message.digest.lastText === 'one')
  first.run.hear({ type: 'release' })

  const second = new Runner()
  const found = await second.ask({ type: 'adopt', process: agent }, 'running')
  expect(found).toMatchObject({ adopted: true, process: agent })
  second.run.hear({ type: 'follow', limits: LIMITS, workedMs: 5000, since: '' })
  expect(await second.next('read')).toMatchObject({ digest: { lastText: 'one' } })
  second.run.notice(everything())
  expect((await second.next('alive')).workedMs).toBeGreaterThanOrEqual(5000)
  expect(isAlive(agent!)).toBe(true)

  second.run.hear({ type: 'stop', graceMs: 100 })
  expect(await second.next('over')).toMatchObject({ digest: { lastText: 'one' } })
  expect(membersOf({ mark: mark(), root: agent, worktree: null, known: new Map() })).toEqual([])
  expect(isAlive(agent!)).toBe(false)
  expect(first.heard.some(({ type }) => type === 'over')).toBe(false)
})

test('what cannot be started says why; what is left of it is swept', async () => {
  const runner = new Runner()
  const launch = { ...order('true'), cwd: join(root, 'missing') }
  expect(await runner.ask({ type: 'launch', launch }, 'failed')).toMatchObject({ error: expect.any(Error) })
  expect(await runner.ask({ type: 'sweep' }, 'swept')).toEqual({ type: 'swept', processes: 0 })
})
