import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runCommand } from './commands.ts'
import { nextLaunch } from './folders.ts'
import { adoptJob, endInput, type Job, type JobSpec, startJob } from './jobs.ts'
import { Outbox } from './messages.ts'
import { bootId, identityOf, isAlive, membersOf, signal } from './processes.ts'
import { stopTree, sweep } from './stopping.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'flotilla-jobs-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))

const mark = () => `test/${root.slice(root.lastIndexOf('/') + 1)}`
const env = () => ({ PATH: process.env.PATH!, FLEET_SESSION: mark() })
const spec = (line: string, more: Partial<JobSpec> = {}): JobSpec => ({
  directory: nextLaunch(root, 'agent'),
  argv: ['/bin/sh', '-c', line],
  cwd: root,
  env: env(),
  stdin: 'none',
  effect: 'spawn.agent',
  ...more,
})
const printed = (job: Job, name = 'stdout') => readFileSync(join(job.directory, name), 'utf8')
const belonging = (job: Job) => () => ({
  mark: mark(),
  root: job.root,
  worktree: null,
  known: new Map<number, string>(),
})

async function until(condition: () => boolean): Promise<void> {
  for (const end = performance.now() + 10_000; !condition(); await pause(5))
    if (performance.now() > end) throw new Error(`waited in vain for ${condition}`)
}

test('what a program prints and how it ends are in files', async () => {
  const job = await startJob(spec('echo out; echo err >&2; exit 7'))
  expect(await job.exited).toEqual({ code: 7 })
  expect([printed(job), printed(job, 'stderr')]).toEqual(['out\n', 'err\n'])
})

test('a program that does not exist ends like a command that was not found', async () => {
  const job = await startJob(spec('', { argv: ['/no/such/program'] }))
  expect((await job.exited).code).toBe(127)
})

describe('adoption', () => {
  test('finds a live job by its files, and its end', async () => {
    const job = await startJob(spec(`while [ ! -e ${root}/go ]; do sleep 0.02; done; exit 3`))
    await until(() => existsSync(join(job.directory, 'pid')))
    const adopted = (await adoptJob(job.directory)) as Job
    expect(adopted.root).toEqual(job.root)
    writeFileSync(join(root, 'go'), '')
    expect(await adopted.exited).toEqual({ code: 3 })
  })

  test('finds the end of a job that is over', async () => {
    const job = await startJob(spec('exit 4'))
    await job.exited
    expect(await ((await adoptJob(job.directory)) as Job).exited).toEqual({ code: 4 })
  })

  test('claims a launch that nobody claimed, so that a late wrapper does nothing', async () => {
    const late = spec(`touch ${root}/ran`)
    expect(await adoptJob(late.directory)).toBe('never started')
    const job = await startJob(late)
    expect(await job.exited).toEqual({ code: null })
    expect(existsSync(join(root, 'ran'))).toBe(false)
  })

  test('says so when the wrapper died without a word', async () => {
    const job = await startJob(spec('sleep 60'))
    await until(() => membersOf(belonging(job)()).length > 0)
    signal(job.root!, 'SIGKILL')
    expect(await ((await adoptJob(job.directory)) as Job).exited).toEqual({ code: null })
    expect(await sweep(belonging(job))).toBeGreaterThan(0)
  })
})

describe('stopping', () => {
  test('ends a stubborn tree, a grandchild in a process session of its own included', async () => {
    const job = await startJob(
      spec(
        `trap '' TERM; setsid sh -c "trap '' TERM; echo \\$\\$ > ${root}/grandchild; while :; do sleep 0.1; done" & while :; do sleep 0.1; done`,
      ),
    )
    await until(
      () => existsSync(join(root, 'grandchild')) && readFileSync(join(root, 'grandchild'), 'utf8').endsWith('\n'),
    )
    const grandchild = identityOf(Number(readFileSync(join(root, 'grandchild'), 'utf8')))!
    expect(await stopTree(belonging(job), 200)).toBeGreaterThan(0)
    expect(membersOf(belonging(job)())).toEqual([])
    expect(isAlive(grandchild)).toBe(false)
    expect((await job.exited).code).toBe(137)
  })

  test('lets a polite program end by itself', async () => {
    const job = await startJob(spec(`trap 'echo bye; exit 5' TERM; touch ${root}/ready; while :; do sleep 0.02; done`))
    await until(() => existsSync(join(root, 'ready')))
    expect(await stopTree(belonging(job), 5000)).toBe(0)
    expect(await job.exited).toEqual({ code: 5 })
    expect(printed(job)).toBe('bye\n')
  })

  test('finds a process that left its parents and its environment by the list of those seen before', async () => {
    const job = await startJob(spec(`env -i setsid sh -c 'echo $$ > ${root}/stray; exec sleep 60' & sleep 60`))
    await until(() => existsSync(join(root, 'stray')) && readFileSync(join(root, 'stray'), 'utf8').endsWith('\n'))
    const stray = identityOf(Number(readFileSync(join(root, 'stray'), 'utf8')))!
    signal(job.root!, 'SIGKILL')
    await until(() => !isAlive(job.root!))
    expect(membersOf(belonging(job)()).map(member => member.pid)).not.toContain(stray.pid)
    const known = { ...belonging(job)(), known: new Map([[stray.pid, stray.started]]) }
    await stopTree(() => known, 0)
    expect(isAlive(stray)).toBe(false)
  })

  test('never signals a pid that is somebody else by now', async () => {
    const job = await startJob(
      spec(`trap 'echo TERM >> ${root}/hits' TERM; touch ${root}/ready; while :; do sleep 0.02; done`),
    )
    await until(() => existsSync(join(root, 'ready')))
    const stranger = { ...job.root!, started: String(Number(job.root!.started) - 1) }
    expect(signal(stranger, 'SIGTERM')).toBe(false)
    expect(signal({ ...job.root!, boot: 'another' }, 'SIGTERM')).toBe(false)
    expect(isAlive({ ...job.root!, boot: bootId })).toBe(true)
    // A signal sent before this one would have been heard first.
    await stopTree(belonging(job), 500)
    expect(readFileSync(join(root, 'hits'), 'utf8')).toBe('TERM\n')
  })

  test('leaves the processes of another mark alone', async () => {
    const mine = await startJob(spec('sleep 60'))
    const other = await startJob(spec('sleep 60', { env: { ...env(), FLEET_SESSION: 'another/home' } }))
    await until(() => membersOf(belonging(other)()).length > 0)
    await stopTree(belonging(mine), 0)
    expect(isAlive(other.root!)).toBe(true)
    await stopTree(() => ({ ...belonging(other)(), mark: 'another/home' }), 0)
  })
})

describe('speaking to a program', () => {
  test('messages arrive whole and in order, the end of input when it is let go, and none goes twice', async () => {
    const job = await startJob(spec('cat > got', { stdin: 'fifo' }))
    const outbox = new Outbox(job.directory, env())
    const long = 'x'.repeat(300_000)
    await outbox.write({ id: 'one', line: long })
    await outbox.write({ id: 'two', line: 'short' })
    await outbox.carry()
    await outbox.write({ id: 'two', line: 'short' })
    await new Outbox(job.directory, env()).carry()
    await endInput(job)
    expect(await job.exited).toEqual({ code: 0 })
    expect(readFileSync(join(root, 'got'), 'utf8')).toBe(`${long}\nshort\n`)
    expect(readFileSync(join(job.directory, 'sent'), 'utf8')).toBe(`${long}\nshort\n`)
  })

  test('what was written down before a crash is carried by whoever comes next', async () => {
    const job = await startJob(spec('head -n 1 > got', { stdin: 'fifo' }))
    await new Outbox(job.directory, env()).write({ id: 'one', line: 'hello' })
    await new Outbox(job.directory, env()).carry()
    await job.exited
    expect(readFileSync(join(root, 'got'), 'utf8')).toBe('hello\n')
  })
})

describe('a command', () => {
  const command = (line: string, more = {}) =>
    runCommand({
      directory: join(root, 'c'),
      kind: 'check',
      line,
      cwd: root,
      env: env(),
      mark: mark(),
      timeoutSeconds: 30,
      ...more,
    })

  test('is run to its end once, however often it is asked for', async () => {
    expect(await command(`echo ran >> ${root}/runs; echo out; exit 2`)).toMatchObject({
      code: 2,
      stopped: null,
      output: 'out',
    })
    expect(await command('never run')).toMatchObject({ code: 2, output: 'out' })
    expect(readFileSync(join(root, 'runs'), 'utf8')).toBe('ran\n')
  })

  test('is stopped at its time limit, tree and all', async () => {
    expect(await command('echo begun; sleep 60 & sleep 60', { timeoutSeconds: 0.3 })).toMatchObject({
      code: null,
      stopped: 'time',
      output: expect.stringContaining('begun'),
    })
    expect(membersOf({ mark: mark(), root: null, worktree: null, known: new Map() })).toEqual([])
  })

  test('that was prepared and never started is started', async () => {
    mkdirSync(join(root, 'c', 'check-1'), { recursive: true })
    expect(await command('echo out')).toMatchObject({ code: 0, output: 'out' })
  })
})
