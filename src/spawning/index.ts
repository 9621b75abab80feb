/**
 * Starts every program of the server. To start a program, the system copies the calling process with its memory, which
 * blocks a large process for ten milliseconds. So the server lets a small process do it.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type Detached, type Program, type Ran, runHere, type Started, startHere } from './program.ts'
import type { Order, Word } from './spawner.ts'

export type { Detached, Program, Ran, Started } from './program.ts'

// Beside this file in the sources, or beside the bundle.
const SPAWNER = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './spawner.ts' : './spawner.cjs', import.meta.url),
)

let spawner: Spawner | undefined

/** Once it is ready, a small separate process starts programs. */
export function openSpawner(): { pid: number | undefined; ready: Promise<void>; close(): void } {
  const ready = Promise.withResolvers<void>()
  const mine = new Spawner({
    ready: () => {
      spawner = mine
      ready.resolve()
    },
    gone: () => {
      if (spawner === mine) spawner = undefined
      ready.resolve()
    },
  })
  return { pid: mine.pid, ready: ready.promise, close: () => mine.close() }
}

export const runProgram = (program: Program): Promise<Ran> => spawner?.run(program) ?? runHere(program)
export const startProgram = (program: Detached): Promise<Started> => spawner?.start(program) ?? startHere(program)

const LOST = 'the process that starts programs was ended'

class Spawner {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, (word: Word | undefined) => void>()
  #orders = 0
  #running = 0

  constructor({ ready, gone }: { ready: () => void; gone: () => void }) {
    // Detached: a Ctrl-C is for the server, which still needs this process to finish its work.
    this.#child = fork(SPAWNER, { detached: true, serialization: 'advanced', stdio: 'ignore', execArgv: [], env: {} })
    // Its first message says that it runs. It gets no orders before that.
    this.#child.once('message', ready)
    this.#child.on('message', (word: Word) => this.#waiting.get(word.id)?.(word))
    for (const event of ['exit', 'error', 'disconnect'] as const)
      this.#child.on(event, () => {
        gone()
        for (const tell of this.#waiting.values()) tell(undefined)
      })
    this.#child.unref()
    this.#child.channel?.unref()
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  close(): void {
    if (this.#child.connected) this.#child.disconnect()
  }

  async run(program: Program): Promise<Ran> {
    // Keep the process alive until the program has ended, as with a child of our own.
    if (this.#running++ === 0) this.#child.channel?.ref()
    try {
      const word = await new Promise<Word | undefined>(tell => this.#order(id => ({ id, run: program }), tell))
      return word && 'ran' in word ? word.ran : { code: null, stdout: Buffer.alloc(0), stderr: '', failure: LOST }
    } finally {
      if (--this.#running === 0) this.#child.channel?.unref()
    }
  }

  start(program: Detached): Promise<Started> {
    const over = Promise.withResolvers<void>()
    return new Promise((resolve, reject) =>
      this.#order(
        id => ({ id, start: program }),
        word => {
          if (word && 'pid' in word) return resolve({ pid: word.pid, over: over.promise })
          over.resolve()
          // Only used if the program was never started.
          reject(new Error(word && 'failure' in word ? word.failure : LOST))
        },
      ),
    )
  }

  /** `tell` gets each message about the order, and undefined if the process that had the order ends. */
  #order(order: (id: number) => Order, tell: (word: Word | undefined) => void): void {
    const id = ++this.#orders
    this.#waiting.set(id, word => {
      if (!word || !('pid' in word)) this.#waiting.delete(id)
      tell(word)
    })
    this.#child.send(order(id), failure => failure && this.#waiting.get(id)?.(undefined))
  }
}
