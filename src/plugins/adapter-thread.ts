import { fileURLToPath } from 'node:url'
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { AdapterFault } from '../agents/reading.ts'
import { clipped } from '../domain/text.ts'
import { AdapterWord } from './adapter-contract.ts'
import { type AdapterFunction, type AdapterOrder, type AdapterSeat, GONE, READY, SAID } from './adapter-seat.ts'
import { THREAD_LIMITS } from './thread.ts'

// Beside this file in the sources, or beside the bundle.
const WORKER = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './adapter-worker.ts' : './adapter-worker.cjs', import.meta.url),
)

/** The call blocks the server. Two seconds is enough on a busy machine. */
const ANSWER_MS = 2000
const LOADING_MS = 10_000
/** For `detect` and `listModels`, which block nothing. */
const ASKING_MS = 20_000
const MAX_ANSWER_CHARS = 32 * 1024 * 1024
const MAX_REASON_CHARS = 1000

type Printed = (text: string) => void

/**
 * The adapters of one plugin, in their own thread. Calls are synchronous, as adapters are: the caller sleeps on shared
 * memory until the answer arrives. So an adapter that hangs, exits or uses up its memory is ended like any plugin.
 */
export class AdapterThread {
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #signs = new Int32Array(new SharedArrayBuffer(8))
  #calls = READY
  #loaded = false
  #over: AdapterFault | undefined

  constructor(file: string, printed: Printed = () => {}) {
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    this.#worker = new Worker(WORKER, {
      workerData: { file, port: port2, signs: this.#signs } satisfies AdapterSeat,
      transferList: [port2],
      ...THREAD_LIMITS,
    })
    this.#worker.on('error', error => this.#end(error instanceof Error ? error.message : String(error)))
    this.#worker.on('exit', () => this.#end('It ended its thread.'))
    this.#worker.on('message', said => printed(clipped(String(said).trimEnd(), MAX_REASON_CHARS)))
    // Last, because listening would keep the process alive again.
    this.#worker.unref()
  }

  get isOver(): boolean {
    return this.#over !== undefined
  }

  /** The answer of a function, not checked yet. Throws an AdapterFault. */
  call(agent: string, of: AdapterFunction, input: readonly unknown[]): unknown {
    this.#load()
    const id = this.#order(agent, of, input)
    return this.#answerIn(this.#waitFor(id, ANSWER_MS, `${of} did not answer within ${ANSWER_MS / 1000} seconds.`))
  }

  /** The same for slow functions, in a thread used only for this call. */
  static async ask(file: string, agent: string, of: AdapterFunction, input: readonly unknown[]): Promise<unknown> {
    const thread = new AdapterThread(file)
    try {
      return await thread.#asked(agent, of, input)
    } finally {
      thread.end()
    }
  }

  /** Waits without blocking until it is loaded, so that the first call need not wait. */
  async ready(): Promise<void> {
    if (this.#loaded) return
    await this.#said(LOADING_MS)
    this.#load(0)
  }

  end(): void {
    this.#end('It was switched off.')
  }

  async #asked(agent: string, of: AdapterFunction, input: readonly unknown[]): Promise<unknown> {
    await this.ready()
    const id = this.#order(agent, of, input)
    await this.#said(ASKING_MS)
    return this.#answerIn(this.#waitFor(id, 0, `${of} did not answer within ${ASKING_MS / 1000} seconds.`))
  }

  /** Resolves once it has answered, is gone, or the time is up. */
  async #said(limitMs: number): Promise<void> {
    const waiting = Atomics.waitAsync(this.#signs, SAID, this.#loaded ? 1 : 0, limitMs)
    this.#worker.ref()
    if (waiting.async) await waiting.value
    this.#worker.unref()
  }

  #load(limitMs = LOADING_MS): void {
    if (this.#over) throw this.#over
    if (this.#loaded) return
    const said = this.#waitFor(READY, limitMs, `It did not load within ${LOADING_MS / 1000} seconds.`)
    if ('threw' in said) throw this.#end(said.threw)
    this.#loaded = true
  }

  #order(agent: string, of: AdapterFunction, input: readonly unknown[]): number {
    const id = ++this.#calls
    this.#port.postMessage({ id, agent, of, json: JSON.stringify(input) } satisfies AdapterOrder)
    return id
  }

  #waitFor(id: number, limitMs: number, late: string): ReturnType<typeof AdapterWord.parse> {
    const until = performance.now() + limitMs
    for (;;) {
      const seen = Atomics.load(this.#signs, SAID)
      const received = receiveMessageOnPort(this.#port)
      if (received) {
        const { success, data } = AdapterWord.safeParse(received.message)
        if (!success) throw this.#end('Its message is not valid.')
        if (data.id === id) return data
      } else if (Atomics.load(this.#signs, GONE)) throw this.#end('It ended its thread.')
      else if (Atomics.wait(this.#signs, SAID, seen, Math.max(0, until - performance.now())) === 'timed-out')
        throw this.#end(late)
    }
  }

  #answerIn(said: ReturnType<typeof AdapterWord.parse>): unknown {
    if ('threw' in said) throw new AdapterFault(clipped(said.threw, MAX_REASON_CHARS), false)
    if ((said.json?.length ?? 0) > MAX_ANSWER_CHARS)
      throw new AdapterFault(`Its answer is longer than ${MAX_ANSWER_CHARS} characters.`, false)
    return said.json === undefined ? undefined : JSON.parse(said.json)
  }

  #end(reason: string): AdapterFault {
    this.#over ??= new AdapterFault(clipped(reason, MAX_REASON_CHARS), true)
    void this.#worker.terminate()
    this.#port.close()
    return this.#over
  }
}
