/**
 * Starts every program of the server. To start a program, the system copies the calling process with its memory, which
 * blocks a large process for ten milliseconds. So the server lets a small process do it, which is there only while there
 * is something to start.
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

/** How long it stays with nothing to do. */
const QUIET_MS = 10_000

let opened: SpawnerSeat | undefined

interface Options {
  /** Gets the pid of the small process before that gets its first order. */
  onStart?: (pid: number) => void
  quietMs?: number
}

/** From now on a small separate process starts programs. */
export function openSpawner(options: Options = {}): { close(): void } {
  const seat = new SpawnerSeat(options)
  opened = seat
  return {
    close() {
      if (opened === seat) opened = undefined
      seat.close()
    },
  }
}

/** Programs will be started soon. It takes a moment until that process is there. */
export const expectPrograms = (): void => void opened?.taken()

/** Whose children the programs of this server are. Process 1 also gets the children of others. */
export const startersOfPrograms = (): number[] => [process.pid, opened?.pid ?? []].flat().filter(pid => pid !== 1)

export async function runProgram(program: Program): Promise<Ran> {
  const spawner = await opened?.taken()
  return spawner ? spawner.run(program) : runHere(program)
}

export async function startProgram(program: Detached): Promise<Started> {
  const spawner = await opened?.taken()
  return spawner ? spawner.start(program) : startHere(program)
}

/** The place of the small process: taken when there is something to start, and empty after a quiet time. */
class SpawnerSeat {
  readonly #options: Options
  #holder: Spawner | undefined

  constructor(options: Options) {
    this.#options = options
  }

  /** Undefined: it could not be started. */
  taken(): Promise<Spawner | undefined> {
    this.#holder ??= this.#seated()
    return this.#holder.ready
  }

  get pid(): number | undefined {
    return this.#holder?.pid
  }

  close(): void {
    this.#holder?.close()
  }

  #seated(): Spawner {
    const spawner: Spawner = new Spawner(this.#options, () => {
      if (this.#holder === spawner) this.#holder = undefined
    })
    return spawner
  }
}

const LOST = 'the process that starts programs was ended'

class Spawner {
  /** Undefined: it ended before it was ready. */
  readonly ready: Promise<this | undefined>
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, (word: Word | undefined) => void>()
  readonly #quietMs: number
  readonly #onGone: () => void
  #quiet: NodeJS.Timeout | undefined
  #orders = 0
  #running = 0

  constructor({ onStart, quietMs = QUIET_MS }: Options, onGone: () => void) {
    this.#quietMs = quietMs
    this.#onGone = onGone
    // Detached: a Ctrl-C is for the server, which still needs this process to finish its work.
    const child = fork(SPAWNER, { detached: true, serialization: 'advanced', stdio: 'ignore', execArgv: [], env: {} })
    this.#child = child
    const ready = Promise.withResolvers<this | undefined>()
    this.ready = ready.promise
    // Its first message says that it runs. It gets no orders before that.
    child.once('message', () => {
      child.channel?.unref()
      onStart?.(child.pid!)
      this.#restSoon()
      ready.resolve(this)
    })
    child.on('message', (word: Word) => this.#waiting.get(word.id)?.(word))
    for (const event of ['exit', 'error', 'disconnect'] as const)
      child.on(event, () => {
        this.#onGone()
        ready.resolve(undefined)
        for (const tell of this.#waiting.values()) tell(undefined)
      })
    child.unref()
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  close(): void {
    clearTimeout(this.#quiet)
    // The next program needs another one.
    this.#onGone()
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
    clearTimeout(this.#quiet)
    const id = ++this.#orders
    this.#waiting.set(id, word => {
      if (!word || !('pid' in word)) this.#waiting.delete(id)
      this.#restSoon()
      tell(word)
    })
    this.#child.send(order(id), failure => failure && this.#waiting.get(id)?.(undefined))
  }

  /** It stays while a program runs that it started, because only it learns of the end. */
  #restSoon(): void {
    clearTimeout(this.#quiet)
    if (this.#waiting.size === 0) this.#quiet = setTimeout(() => this.close(), this.#quietMs).unref()
  }
}
