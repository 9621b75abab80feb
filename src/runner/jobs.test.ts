import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { escapes } from '../../test/kit/escapes.ts'
import { aSmallDisk, canMount, type SmallDisk } from '../../test/kit/small-disk.ts'
import { nextLaunch } from '../platform/launch-folder.ts'
import { openSpawner, runProgram } from '../spawning/index.ts'
import { runCommand } from './commands.ts'
import { groupOf, groupsFolder } from './groups.ts'
import { adoptJob, endInput, isCutShort, type Job, type JobSpec, startJob } from './jobs.ts'
import { Outbox } from './messages.ts'
import {
  bootId,
  everything,
  identityOf,
  isAlive,
  isWriter,
  type Moment,
  membersOf,
  type Seen,
  signal,
  startsFrom,
} from './processes.ts'
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
  maxBytes: 64 * 1024 * 1024,
  effect: 'spawn.agent',
  ...more,
})
const printed = (job: Job, name = 'stdout') => readFileSync(join(job.directory, name), 'utf8')
const belonging = (job: Job) => () => ({
  mark: mark(),
  root: job.root,
  worktree: null,
  directory: job.directory,
  known: new Map<number, string>(),
})

function belowOf(pid: number): Seen[] {
  const children = everything().filter(({ parent }) => parent === pid)
  return children.flatMap(child => [child, ...belowOf(child.pid)])
}
/** Private memory only: what it shares with others of its kind costs nothing more. */
const privateBytes = (pid: number): number =>
  [...readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1').matchAll(/^Private_\w+:\s+(\d+) kB/gm)].reduce(
    (sum, [, kilobytes]) => sum + Number(kilobytes) * 1024,
    0,
  )
function isNapping(pid: number): boolean {
  try {
    return isWriter(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').startsWith('sleep')
  } catch {
    // A nap lasts a second: this one ended between the two looks.
    return false
  }
}

async function until(condition: () => boolean): Promise<void> {
  for (const end = performance.now() + 10_000; !condition(); await pause(5))
    if (performance.now() > end) throw new Error(`waited in vain for ${condition}`)
}

test('what a program prints and how it ends are in files', async () => {
  const job = await startJob(spec('echo out; echo err >&2; exit 7'))
  expect(await job.exited).toEqual({ code: 7 })
  expect([printed(job), printed(job, 'stderr')]).toEqual(['out\n', 'err\n'])
})

test('a program that ends in the moment its input does is stored with its own exit code', async () => {
  for (let time = 0; time < 30; time++) {
    const job = await startJob(spec('echo ready; while read -r line; do :; done; exit 4', { stdin: 'fifo' }))
    await until(() => existsSync(join(job.directory, 'stdout')) && printed(job) === 'ready\n')
    await endInput(job)
    expect(await job.exited).toEqual({ code: 4 })
  }
})

test('a program that does not exist ends like a command that was not found', async () => {
  const job = await startJob(spec('', { argv: ['/no/such/program'] }))
  expect((await job.exited).code).toBe(127)
})

describe('what it prints', () => {
  test('is written down to its limit and no further, whether anyone reads it or not; the program goes on', async () => {
    const line = 'head -c 20000000 /dev/zero; head -c 3000 /dev/zero >&2; touch went-on; exit 3'
    const job = await startJob(spec(line, { maxBytes: 100_000 }))
    expect(await job.exited).toEqual({ code: 3 })
    expect(existsSync(join(root, 'went-on'))).toBe(true)
    const { size } = statSync(join(job.directory, 'stdout'))
    expect(size).toBeGreaterThan(100_000)
    expect(size).toBeLessThan(100_000 + 1024)
    expect(statSync(join(job.directory, 'stderr')).size).toBe(3000)
    expect(isCutShort(job.directory)).toBe(true)
  })

  test('is marked as cut short only where it was', async () => {
    const job = await startJob(spec('head -c 100000 /dev/zero', { maxBytes: 100_000 }))
    await job.exited
    expect(statSync(join(job.directory, 'stdout')).size).toBe(100_000)
    expect(isCutShort(job.directory)).toBe(false)
  })

  test('cannot be taken back by the program that printed it', async () => {
    const cut = 'for n in 1 2; do : >/dev/stdout; : >/dev/stderr; truncate -s 0 /proc/self/fd/$n; done'
    const job = await startJob(spec(`echo one; echo uno >&2; { ${cut}; } 2>/dev/null; echo two; echo due >&2`))
    await job.exited
    expect([printed(job), printed(job, 'stderr')]).toEqual(['one\ntwo\n', 'uno\ndue\n'])
  })

  test('is complete when the end is told, though children go on printing into the same pipe', async () => {
    const started = performance.now()
    const job = await startJob(spec(`(while :; do echo child; sleep 0.05; done) & sleep 0.2; echo last; exit 3`))
    expect(await job.exited).toEqual({ code: 3 })
    expect(performance.now() - started).toBeLessThan(5000)
    expect(printed(job)).toContain('last\n')
    // Only the child is counted: the writers of the transcript end with it.
    expect(await sweep(belonging(job))).toBeLessThanOrEqual(2)
    await until(() => membersOf({ ...belonging(job)(), root: null }).length === 0)
  })

  test('is written by small processes that a stop does not end before the program', async () => {
    const job = await startJob(
      spec(`trap 'sleep 0.3; echo bye; exit 5' TERM; echo ready; while :; do sleep 0.02; done`),
    )
    await until(() => printed(job) === 'ready\n')
    const writers = belowOf(job.root!.pid).filter(({ pid }) => isWriter(pid))
    expect(writers).toHaveLength(4)
    expect(membersOf(belonging(job)()).filter(({ pid }) => isWriter(pid))).toEqual([])
    const resident = writers.map(({ pid }) => privateBytes(pid))
    expect(resident.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(1.5 * 1024 * 1024)
    expect(await stopTree(belonging(job), 5000)).toBe(0)
    expect(await job.exited).toEqual({ code: 5 })
    expect(printed(job)).toBe('ready\nbye\n')
  })

  test.skipIf(!canMount)('waits for room on a full disk, and goes on with whole lines', async () => {
    const disk = aSmallDisk(2)
    const waitsFor = (name: string) => `while [ ! -e ${root}/${name} ]; do sleep 0.02; done`
    const job = await startJob(
      spec(`echo first; ${waitsFor('full')}; seq 1 2000; touch ${root}/printed; ${waitsFor('free')}; echo last`, {
        directory: nextLaunch(disk.path, 'agent'),
      }),
    )
    await until(() => printed(job) === 'first\n')
    disk.fill()
    writeFileSync(join(root, 'full'), '')
    await until(() => existsSync(join(root, 'printed')) && belowOf(job.root!.pid).some(({ pid }) => isNapping(pid)))
    disk.free()
    writeFileSync(join(root, 'free'), '')
    expect(await job.exited).toEqual({ code: 0 })
    expect(isCutShort(job.directory)).toBe(false)
    expect(printed(job)).toMatch(/^first\n/)
    expect(printed(job)).toMatch(/\nlast\n$/)
  })

  describe.skipIf(!canMount)('on a disk that it fills and leaves full', () => {
    const filling = (disk: SmallDisk, before = '') =>
      startJob(
        spec(`${before} cat /dev/zero >${disk.path}/filler 2>/dev/null; exit 7`, {
          directory: nextLaunch(disk.path, 'agent'),
        }),
      )

    test('its end is written down', async () => {
      const job = await filling(aSmallDisk(2))
      expect(await job.exited).toEqual({ code: 7 })
      expect(await ((await adoptJob(job.directory)) as Job).exited).toEqual({ code: 7 })
    })

    test('its end is written down once there is room, where even that needs some', async () => {
      const disk = aSmallDisk(2)
      const job = await filling(disk, `rm ${disk.path}/agent-1/ending;`)
      const naps = new Set<number>()
      await until(() => {
        for (const { pid } of belowOf(job.root!.pid)) if (isNapping(pid)) naps.add(pid)
        return naps.size > 5
      })
      expect(membersOf(belonging(job)())).toEqual([])
      disk.free()
      expect(await job.exited).toEqual({ code: 7 })
    })
  })
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
    const job = await startJob(spec(`touch ${root}/begun; sleep 60`))
    // Before that, there are only helpers of the wrapper, which end by themselves.
    await until(() => existsSync(join(root, 'begun')))
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
    // Without a mark there is no control group for it either, as on most machines.
    const line = `env -i setsid sh -c 'echo $$ > ${root}/stray; exec sleep 60' & sleep 60`
    const job = await startJob(spec(line, { env: { PATH: process.env.PATH! } }))
    await until(() => existsSync(join(root, 'stray')) && readFileSync(join(root, 'stray'), 'utf8').endsWith('\n'))
    const stray = identityOf(Number(readFileSync(join(root, 'stray'), 'utf8')))!
    signal(job.root!, 'SIGKILL')
    await until(() => !isAlive(job.root!))
    expect(membersOf(belonging(job)()).map(member => member.pid)).not.toContain(stray.pid)
    const known = { ...belonging(job)(), known: new Map([[stray.pid, stray.started]]) }
    await stopTree(() => known, 0)
    expect(isAlive(stray)).toBe(false)
  })

  test('searches by mark only among processes that are no older than the session', async () => {
    const since = startsFrom()!
    const child = spawn('sleep', ['60'], { env: env(), cwd: root, stdio: 'ignore' })
    const found = (from?: Moment) => {
      const members = membersOf({ mark: mark(), root: null, worktree: root, known: new Map(), since: from })
      return members.map(({ pid }) => pid)
    }
    await until(() => found(since).includes(child.pid!))
    expect(found()).toContain(child.pid)
    const later = startsFrom()!
    expect(found({ ...later, started: later.started + 60_000 })).toEqual([])
    // Its pid is smaller than the last one of that moment, so it is not even looked at.
    expect(found({ ...later, started: 0 })).toEqual([])
    // Pids may have begun again since: then they say nothing.
    const most = Number(readFileSync('/proc/sys/kernel/pid_max', 'latin1'))
    expect(found({ ...later, started: 0, pid: most })).toContain(child.pid)
    expect(found({ ...later, started: 0, forks: later.forks - most })).toContain(child.pid)
    child.kill()
  })

  test.skipIf(!groupsFolder())(
    'ends whatever left its parents, its environment and its folder, and what that started, and forgets the group',
    async () => {
      const job = await startJob(spec(`${escapes(20, join(root, 'pids'))}; sleep 60`))
      const pids = () => readFileSync(join(root, 'pids'), 'latin1').split('\n').filter(Boolean).map(Number)
      await until(() => existsSync(join(root, 'pids')) && pids().length === 20)
      const strays = pids().map(pid => identityOf(pid)!)
      expect(strays.filter(isAlive)).toHaveLength(20)
      await stopTree(belonging(job), 200)
      expect(strays.filter(isAlive)).toEqual([])
      await sweep(belonging(job))
      expect(existsSync(groupOf(belonging(job)())!)).toBe(false)
    },
  )

  test.skipIf(!groupsFolder())('believes no launch that names the group of another', async () => {
    const other = await startJob(spec('sleep 60', { env: { ...env(), FLEET_SESSION: 'another/home' } }))
    const job = await startJob(spec(`printf '%s\\n' '${groupsFolder()}/another_home' >agent-2/group; sleep 60`))
    await until(() => readFileSync(join(job.directory, 'group'), 'utf8').endsWith('/another_home\n'))
    await stopTree(belonging(job), 0)
    expect(isAlive(other.root!)).toBe(true)
    await stopTree(() => ({ ...belonging(other)(), mark: 'another/home' }), 0)
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

  test.each(['here', 'in the spawner'])(
    'leaves programs alone that the server runs in the worktree: %s',
    async where => {
      const spawner = where === 'here' ? undefined : openSpawner()
      const worktree = mkdtempSync(join(root, 'worktree-'))
      const isIn = (file: string) => existsSync(join(worktree, file))
      const line = 'sh -c "touch own; while ! test -e over; do sleep 0.02; done; touch whole"; exit 0'
      const environment = { PATH: process.env.PATH! }
      const program = { command: 'sh', args: ['-c', line], cwd: worktree, env: environment }
      const ran = runProgram({ ...program, maxBytes: 1000, timeoutMs: 60_000 })
      // Nothing but its folder tells that this one belongs to the job.
      const job = await startJob(
        spec(`cd ${worktree}; setsid sh -c 'touch stray; exec sleep 60' &`, { env: environment }),
      )
      await job.exited
      await until(() => isIn('own') && isIn('stray'))
      expect(await sweep(() => ({ ...belonging(job)(), worktree }))).toBeGreaterThan(0)
      writeFileSync(join(worktree, 'over'), '')
      expect(await ran).toMatchObject({ code: 0 })
      expect(isIn('whole')).toBe(true)
      spawner?.close()
    },
  )

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

  test('a message that was stored before a crash is carried by the next server', async () => {
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
