import type { Exit } from '../agents/contract.ts'
import { newestLaunch, nextLaunch, outputOf } from '../platform/launch-folder.ts'
import { every } from '../platform/timers.ts'
import { isCutShort, type Job, type JobSpec } from './jobs.ts'
import { ProcessTree } from './process-tree.ts'

export interface CommandRun {
  /** The folder of its launches. A second call with the same folder adopts what an earlier server started. */
  directory: string
  kind: 'setup' | 'check'
  /** A shell line that a person wrote. It is passed to sh unchanged. */
  line: string
  cwd: string
  env: Record<string, string>
  mark: string
  timeoutSeconds: number
  signal?: AbortSignal
  /** The sandbox it runs in, if there is one. */
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
  const tree = new ProcessTree({ mark: run.mark, worktree: null })
  const job = (await tree.adopt(newestLaunch(run.directory, run.kind))) ?? (await tree.start(specOf(run)))
  const stopped = await Promise.race([
    job.exited.then(() => null),
    timeUp(run, job.exited),
    tooLong(job),
    asked(run, job.exited),
  ])
  if (stopped) await tree.stop(STOP_GRACE_MS)
  const exit: Exit = await job.exited
  // What a check leaves running would disturb the next one. What a setup command starts may be for the agent.
  if (run.kind === 'check') await tree.sweep()
  return {
    code: stopped ? null : exit.code,
    stopped,
    output: outputOf(job.directory, OUTPUT_BYTES),
    seconds: (performance.now() - started) / 1000,
  }
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

/** Settles when it has printed too much. */
function tooLong(job: Job): Promise<'size'> {
  return new Promise(resolve => {
    const look = (): void => {
      if (isCutShort(job.directory)) resolve('size')
    }
    // If the size cannot be read now, it is read the next time.
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
