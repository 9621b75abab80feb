import { closeSync, existsSync, mkdirSync, openSync, renameSync, statSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Exit } from '../agents/contract.ts'
import { effect } from '../platform/effects.ts'
import { fileOf } from '../platform/launch-folder.ts'
import { Lookout } from '../platform/lookout.ts'
import { readPlain } from '../platform/plain-files.ts'
import { startProgram } from '../spawning/index.ts'
import { makeGroup } from './groups.ts'
import { movePipes, placePipes } from './pipes.ts'
import { type Identity, identityOf, isAlive, signal } from './processes.ts'

const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
export const WRAPPER = script('./wrapper.sh')
export const COURIER = script('./courier.sh')

const LOOK_EVERY_MS = 50
/** A wrapper writes its pid within milliseconds; on a machine that swaps it may take a while. */
const PID_WAIT_MS = 10_000

/** A program under the wrapper: an agent, a setup command, a check or a side process. It outlives this process. */
export interface JobSpec {
  directory: string
  argv: readonly string[]
  cwd: string
  env: Record<string, string>
  stdin: 'none' | 'fifo'
  /** How much of each stream is kept. The rest is read and dropped: see `isCutShort`. */
  maxBytes: number
  /** The effect's name, under which the tests crash here. */
  effect: 'spawn.agent' | 'spawn.setup' | 'spawn.check' | 'spawn.side-process'
}

export interface Job {
  directory: string
  root: Identity | null
  exited: Promise<Exit>
  /** Closes its input, if this process holds it. */
  letGo?(): void
}

/** Makes the files that the wrapper needs in the folder of its launch. */
export async function makeStreams({ directory, stdin, env }: JobSpec): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  for (const name of ['stdout', 'stderr'] as const) closeSync(openSync(fileOf(directory, name), 'a', 0o600))
  makeGroup(directory, env.FLEET_SESSION)
  const pipes = (['stdoutPipe', 'stderrPipe', ...(stdin === 'none' ? [] : ['stdin' as const])] as const).map(name =>
    fileOf(directory, name),
  )
  // The wrapper makes its own two if they are missing, without keeping the launch waiting for a program.
  await effect('fifo.make', () => (stdin === 'none' ? void movePipes(pipes) : placePipes(pipes)))
}

/** Whether it printed more than is kept. */
export const isCutShort = (directory: string): boolean => existsSync(fileOf(directory, 'full'))

export async function startJob(spec: JobSpec): Promise<Job> {
  await makeStreams(spec)
  const { pid, over } = await effect(spec.effect, () =>
    startProgram({
      command: '/bin/sh',
      args: [WRAPPER, spec.directory, spec.stdin, String(spec.maxBytes), ...spec.argv],
      cwd: spec.cwd,
      env: spec.env,
    }),
  )
  const root = identityOf(pid) ?? null
  return { directory: spec.directory, root, exited: over.then(() => exitOf(spec.directory, root)) }
}

export type Found = Job | 'never started'

/**
 * Adopts what an earlier server started. A launch that nobody claimed is claimed here, so that a late wrapper does
 * nothing.
 */
export async function adoptJob(directory: string): Promise<Found> {
  if (!existsSync(directory) || (await effect('claim.take', () => takeClaim(directory)))) return 'never started'
  const root = await pidOf(directory)
  return { directory, root, exited: exitOf(directory, root) }
}

/** A wrapper claims with a file and a server with a folder. A folder of an earlier server that died counts as ours. */
function takeClaim(directory: string): boolean {
  const claim = fileOf(directory, 'claim')
  try {
    mkdirSync(claim)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return statSync(claim).isDirectory()
    throw error
  }
}

async function pidOf(directory: string): Promise<Identity | null> {
  for (let waited = 0; waited < PID_WAIT_MS; waited += LOOK_EVERY_MS) {
    const line = completeLine(fileOf(directory, 'process'))
    if (line) {
      const [pid, started, boot] = line.split(' ')
      return { pid: Number(pid), started: started!, boot: boot! }
    }
    await pause(LOOK_EVERY_MS)
  }
  return null
}

/** The exit that the wrapper recorded, or none if the wrapper itself died. */
export async function exitOf(directory: string, root: Identity | null): Promise<Exit> {
  return exitNow(directory, root) ?? exitLater(directory, root)
}

/** A server that stops does not wait for the agents it adopted. */
function exitLater(directory: string, root: Identity | null): Promise<Exit> {
  return new Promise((resolve, reject) => {
    const look = (): boolean => {
      const exit = exitNow(directory, root)
      if (exit) settle(() => resolve(exit))
      return exit !== undefined
    }
    const at = { folder: directory, names: [fileOf('', 'exit'), fileOf('', 'ending')], everyMs: LOOK_EVERY_MS }
    const lookout = new Lookout(at, look, error => settle(() => reject(error)))
    const settle = (how: () => void): void => {
      lookout.close()
      how()
    }
  })
}

function exitNow(directory: string, root: Identity | null): Exit | undefined {
  const gone = root === null || !isAlive(root)
  return readExit(directory) ?? (gone ? lastExit(directory) : undefined)
}

/** What a wrapper that is gone has written. It gets the name under which everybody looks for it. */
function lastExit(directory: string): Exit {
  const line = completeLine(fileOf(directory, 'ending'))
  if (!line?.trim()) return { code: null }
  renameSync(fileOf(directory, 'ending'), fileOf(directory, 'exit'))
  return { code: Number(line) }
}

function readExit(directory: string): Exit | undefined {
  const line = completeLine(fileOf(directory, 'exit'))
  return line === undefined ? undefined : { code: Number(line) }
}

const LINE_BYTES = 200

function completeLine(file: string): string | undefined {
  const text = readPlain(file, LINE_BYTES)
  return text?.endsWith('\n') ? text.slice(0, -1) : undefined
}

/** Closes the program's input. */
export async function endInput(job: Job): Promise<void> {
  await effect('signal.end-input', () => (job.letGo ? job.letGo() : job.root && signal(job.root, 'SIGUSR1')))
}
