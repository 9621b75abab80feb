import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** A program that runs to its end for its output. Plain data, because it may be sent to another process. */
export interface Program {
  command: string
  args: readonly string[]
  cwd: string
  env: Record<string, string>
  input?: string | Buffer
  /** It is ended if it prints more than this. */
  maxBytes: number
  /** It is ended if it takes longer than this. */
  timeoutMs: number
  /** A new file for its messages, so that others can read its progress while it runs. It is ended if that is too long. */
  messages?: string
}

export interface Ran {
  code: number | null
  stdout: Buffer
  stderr: string
  stopped?: 'truncated' | 'too long'
  /** It could not be started. */
  failure?: string
}

/** A program to start and leave alone: it outlives its starter, and nobody reads its output. */
export type Detached = Pick<Program, 'command' | 'args' | 'cwd' | 'env'>

export interface Started {
  pid: number
  /** Resolves when it has ended, or when nobody is left who would know. */
  over: Promise<void>
}

const MAX_STDERR_BYTES = 64 * 1024
const MAX_MESSAGES_BYTES = 64 * 1024 * 1024
const LOOK_MS = 1000

export async function runHere(program: Program): Promise<Ran> {
  try {
    return await toItsEnd(program)
  } catch (error) {
    // Some start errors are thrown instead of reported.
    return { code: null, stdout: Buffer.alloc(0), stderr: '', failure: (error as Error).message }
  }
}

function toItsEnd({ command, args, cwd, env, input, maxBytes, timeoutMs, messages }: Program): Promise<Ran> {
  return new Promise(resolve => {
    // Detached: a Ctrl-C meant for the server must not interrupt work in the person's checkout.
    const stdin = input === undefined ? 'ignore' : 'pipe'
    const file = messages === undefined ? undefined : new MessageFile(messages)
    const stdio: StdioOptions = [stdin, 'pipe', file?.descriptor ?? 'pipe']
    let child: ChildProcess
    try {
      child = spawn(command, args, { cwd, env, detached: true, stdio })
    } catch (error) {
      file?.close()
      throw error
    }
    const out: Buffer[] = []
    const err: Buffer[] = []
    let outBytes = 0
    let errBytes = 0
    let stopped: Ran['stopped']
    const stop = (why: Ran['stopped']) => {
      stopped ??= why
      child.kill()
    }
    const timer = setTimeout(() => stop('too long'), timeoutMs)
    const watch = file && setInterval(() => file.size > MAX_MESSAGES_BYTES && stop('truncated'), LOOK_MS)
    const finish = (code: number | null, failure?: string) => {
      clearTimeout(timer)
      clearInterval(watch)
      const said = file?.end() ?? Buffer.concat(err)
      file?.close()
      resolve({ code, stdout: Buffer.concat(out), stderr: said.toString('utf8'), stopped, failure })
    }
    child.stdout?.on('data', (chunk: Buffer) => {
      if (outBytes < maxBytes) out.push(chunk.subarray(0, maxBytes - outBytes))
      outBytes += chunk.length
      if (outBytes > maxBytes) stop('truncated')
    })
    child.stderr?.on('data', (chunk: Buffer) => {
      if (errBytes < MAX_STDERR_BYTES) err.push(chunk)
      errBytes += chunk.length
    })
    child.on('error', cause => finish(null, cause.message))
    child.on('close', code => finish(code))
    // A program that ends before it has read everything closes the pipe; its exit code says why.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}

/** Read by its descriptor: whoever removes or replaces the file at its path harms nobody. */
class MessageFile {
  readonly descriptor: number
  #isOpen = true

  constructor(path: string) {
    this.descriptor = openSync(path, 'wx+', 0o600)
  }

  get size(): number {
    return this.#isOpen ? fstatSync(this.descriptor).size : 0
  }

  end(): Buffer {
    const { size } = this
    const bytes = Buffer.alloc(Math.min(size, MAX_STDERR_BYTES))
    try {
      return bytes.subarray(0, readSync(this.descriptor, bytes, 0, bytes.length, size - bytes.length))
    } catch {
      // The disk fails: how the program ended still counts.
      return Buffer.alloc(0)
    }
  }

  close(): void {
    if (this.#isOpen) closeSync(this.descriptor)
    this.#isOpen = false
  }
}

export function startHere({ command, args, cwd, env }: Detached): Promise<Started> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, detached: true, stdio: 'ignore' })
    const over = new Promise<void>(ended => child.once('exit', () => ended()))
    child.unref()
    child.once('error', reject).once('spawn', () => resolve({ pid: child.pid!, over }))
  })
}
