import type { Exit } from '../agents/contract.ts'
import { newestLaunch, nextLaunch, outputOf } from '../platform/launch-folder.ts'
import { every } from '../platform/timers.ts'
import { adoptJob, isCutShort, type Job, type JobSpec, startJob } from './jobs.ts'
import { stopTree, sweep } from './stopping.ts'

export interface CommandRun {
  /** Where its launches are kept; a second call with the same one takes up what an earlier server started. */
  directory: string
  kind: 'setup' | 'check'
  /** A shell line a person wrote; it is handed to sh as it is, nothing is put into it. */
  line: string
  cwd: string
  env: Record<string, string>
  mark: string
  timeoutSeconds: number
  signal?: AbortSignal
  /** The walls it runs behind, if there are any. */
  within?: (argv: readonly [string, ...string[]]) => readonly string[]
}

export interface CommandResult {
  code: number | null
  /** Why it was stopped, if it was. */
  stopped: 'time' | 'size' | 'asked' | null
  output: string
  seconds: number
}

const OUTPUT_BYTES = 64 * 1024
const STOP_GRACE_MS = 2000
const MAX_PRINTED_BYTES = 64 * 1024 * 1024
const SIZE_LOOK_MS = 500

/** Runs a setup command or a check to its end, under the wrapper, so that a crash of the server neither ends nor repeats it. */
export async function runCommand(run: CommandRun): Promise<CommandResult> {
  const started = performance.now()
  const job = (await takenUp(run)) ?? (await startJob(specOf(run)))
  const { root, directory } = job
  const belonging = () => ({ mark: run.mark, root, worktree: null, directory, known: new Map<number, string>() })
  const stopped = await Promise.race([
    job.exited.then(() => null),
    timeUp(run, job.exited),
    tooLong(job),
    asked(run, job.exited),
  ])
  if (stopped) await stopTree(belonging, STOP_GRACE_MS)
  const exit: Exit = await job.exited
  // What a check leaves running would meet the next one; what a setup command starts may be for the agent.
  if (run.kind === 'check') await sweep(belonging)
  return {
    code: stopped ? null : exit.code,
    stopped,
    output: outputOf(job.directory, OUTPUT_BYTES),
    seconds: (performance.now() - started) / 1000,
  }
}

async function takenUp({ directory, kind }: CommandRun): Promise<Job | undefined> {
  const newest = newestLaunch(directory, kind)
  const found = newest ? await adoptJob(newest) : 'never started'
  return found === 'never started' ? undefined : found
}

function specOf({ directory, kind, line, cwd, env, mark, within = argv => argv }: CommandRun): JobSpec {
  return {
    directory: nextLaunch(directory, kind),
    argv: within(['/bin/sh', '-c', line]),
    cwd,
    env: { ...env, FLEET_SESSION: mark },
    stdin: 'none',
    maxBytes: MAX_PRINTED_BYTES,
    effect: kind === 'setup' ? 'spawn.setup' : 'spawn.check',
  }
}

function timeUp({ timeoutSeconds }: CommandRun, exited: Promise<unknown>): Promise<'time'> {
  return new Promise(resolve => {
    const timer = setTimeout(() => resolve('time'), timeoutSeconds * 1000)
    void exited.then(() => clearTimeout(timer))
  })
}

/** It prints without end. */
function tooLong(job: Job): Promise<'size'> {
  return new Promise(resolve => {
    const look = (): void => {
      if (isCutShort(job.directory)) resolve('size')
    }
    // What cannot be looked at now is looked at the next time.
    const timer = every(SIZE_LOOK_MS, look, () => {})
    void job.exited.then(() => clearInterval(timer))
  })
}

function asked({ signal }: CommandRun, exited: Promise<unknown>): Promise<'asked'> {
  return new Promise(resolve => {
    if (signal?.aborted) resolve('asked')
    const stop = () => resolve('asked')
    signal?.addEventListener('abort', stop, { once: true })
    void exited.then(() => signal?.removeEventListener('abort', stop))
  })
}
