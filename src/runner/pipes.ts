import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { newId } from '../domain/ids.ts'
import { runProgram } from '../spawning/index.ts'

const AT_ONCE = 32
/** Enough for a few launches while the next ones are made. */
const FEW = 12
const TIMEOUT_MS = 30_000

let opened: Pipes | undefined

/** From now on pipes are made ahead, many with one program: only a program can make a named pipe. */
export function openPipes(folder: string): { close(): void } {
  const pipes = new Pipes(folder)
  opened = pipes
  return {
    close() {
      if (opened === pipes) opened = undefined
    },
  }
}

/** Puts new pipes at these paths, which are on the disk of the home. */
export async function placePipes(paths: readonly string[]): Promise<void> {
  if (!movePipes(paths)) await makePipes(paths)
}

/** The same if enough were made ahead. */
export const movePipes = (paths: readonly string[]): boolean => opened?.move(paths) ?? false

async function makePipes(paths: readonly string[]): Promise<void> {
  const [args, env] = [['-m', '600', ...paths], { PATH: process.env.PATH ?? '' }]
  const made = await runProgram({ command: 'mkfifo', args, cwd: '/', env, maxBytes: 1000, timeoutMs: TIMEOUT_MS })
  if (made.code !== 0) throw new Error(`mkfifo failed: ${made.failure ?? made.stderr}`)
}

class Pipes {
  readonly #folder: string
  readonly #ready: string[] = []
  #making: Promise<void> | undefined

  constructor(folder: string) {
    this.#folder = folder
    // An earlier server may have left some.
    rmSync(folder, { recursive: true, force: true })
  }

  move(paths: readonly string[]): boolean {
    const isEnough = this.#ready.length >= paths.length
    try {
      if (isEnough) for (const path of paths) renameSync(this.#ready.pop()!, path)
      return isEnough
    } catch {
      // Somebody removed them, or the path is on another disk.
      for (const path of paths) rmSync(path, { force: true })
      this.#ready.length = 0
      return false
    } finally {
      if (this.#ready.length < FEW) this.#make()
    }
  }

  /** Where that fails, each launch makes its own. */
  #make(): void {
    const paths = Array.from({ length: AT_ONCE }, () => join(this.#folder, newId()))
    this.#making ??= Promise.resolve()
      .then(() => mkdirSync(this.#folder, { recursive: true, mode: 0o700 }))
      .then(() => makePipes(paths))
      .then(() => void this.#ready.push(...paths))
      .catch(() => {})
      .finally(() => {
        this.#making = undefined
      })
  }
}
