import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { z } from 'zod'
import { clipped } from '../domain/text.ts'
import { type Given, type Manifest, type Order, Word } from './contract.ts'

// Beside this file in the sources, or beside the bundle.
const WORKER = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './plugin-worker.cjs', import.meta.url),
)

const HEAP_MB = 256
/** The settings and limits of every thread with plugin code. */
export const THREAD_LIMITS = {
  // Older releases of Node 22 need these flags. The plugin gets no other flags of this process.
  execArgv: ['--experimental-strip-types', '--disable-warning=ExperimentalWarning'],
  resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: 32 },
}
const MAX_ANSWER_CHARS = 1024 * 1024
const MAX_REASON_CHARS = 1000
/** More messages than this within a second are a flood. */
const MAX_WORDS = 1000
const MAX_PRINTED_BYTES = 1024 * 1024

/** Something a plugin did wrong. */
export class PluginFault extends Error {
  /** Whether its thread has ended too. */
  readonly ended: boolean
  constructor(message: string, ended: boolean) {
    super(clipped(message, MAX_REASON_CHARS))
    this.name = 'PluginFault'
    this.ended = ended
  }
}

export interface ThreadOptions extends Given {
  environment: Readonly<Record<string, string | undefined>>
  /** How long it has to load and start. */
  startMs: number
  ask(operation: string, input: unknown, key?: string): Promise<unknown>
  log(text: string): void
  /** It ended by itself, or had to be ended; not called after `end`. */
  ended(fault: PluginFault): void
}

interface Waiting {
  resolve(value: unknown): void
  reject(fault: PluginFault): void
}

/** One running plugin, seen from outside. The worst it can do is answer slowly until it is ended. */
export class PluginThread {
  readonly manifest: Manifest
  readonly #line: Line

  private constructor(line: Line, manifest: Manifest) {
    this.#line = line
    this.manifest = manifest
  }

  static async start(options: ThreadOptions): Promise<PluginThread> {
    const line = new Line(options)
    return new PluginThread(line, await line.ready)
  }

  /** The plugin's answer, or a PluginFault: it threw, took too long, or is gone. */
  call(of: 'hooks' | 'tools', name: string, input: unknown, limitMs: number): Promise<unknown> {
    return this.#line.call(of, name, input, limitMs)
  }

  get isOver(): boolean {
    return this.#line.isOver
  }

  end(): Promise<void> {
    return this.#line.end()
  }
}

class Line {
  readonly ready: Promise<Manifest>
  readonly #worker: Worker
  readonly #options: ThreadOptions
  readonly #waiting = new Map<number, Waiting>()
  readonly #begun = Promise.withResolvers<Manifest>()
  readonly #rate = { since: 0, words: 0, bytes: 0 }
  #calls = 0
  #started = false
  #over: PluginFault | undefined

  constructor(options: ThreadOptions) {
    this.#options = options
    const { file, settings, environment, startMs } = options
    this.#worker = new Worker(WORKER, {
      workerData: { file, settings } satisfies Given,
      env: { ...environment },
      ...THREAD_LIMITS,
      stdout: true,
      stderr: true,
    })
    this.#worker.unref()
    this.#worker.on('message', word => this.#hear(word))
    this.#worker.on('error', error => this.#fail(reasonFor(error)))
    this.#worker.on('exit', code => this.#fail(`It ended its thread (exit code ${code}).`))
    for (const stream of [this.#worker.stdout, this.#worker.stderr])
      stream.on('data', (chunk: Buffer) => this.#printed(chunk))
    const late = setTimeout(() => this.#fail(`It did not start within ${startMs / 1000} seconds.`), startMs)
    this.ready = this.#begun.promise.finally(() => clearTimeout(late))
  }

  call(of: 'hooks' | 'tools', name: string, input: unknown, limitMs: number): Promise<unknown> {
    if (this.#over) return Promise.reject(this.#over)
    const id = ++this.#calls
    return new Promise((resolve, reject) => {
      // It may hang in a loop, and then only ending the thread helps.
      const late = setTimeout(() => this.#fail(`${name} did not answer within ${limitMs / 1000} seconds.`), limitMs)
      const settle = (how: () => void) => {
        clearTimeout(late)
        this.#waiting.delete(id)
        how()
      }
      this.#waiting.set(id, {
        resolve: value => settle(() => resolve(value)),
        reject: fault => settle(() => reject(fault)),
      })
      this.#tell({ kind: 'call', id, of, name, input })
    })
  }

  get isOver(): boolean {
    return this.#over !== undefined
  }

  async end(): Promise<void> {
    this.#stop(new PluginFault('It was switched off.', true))
    await this.#worker.terminate()
  }

  #tell(order: Order): void {
    this.#worker.postMessage(order)
  }

  #hear(said: unknown): void {
    if (this.#over || this.#floods(1, 0)) return
    const { success, data: word, error } = Word.safeParse(said)
    if (!success) this.#fail(`Its message is not valid: ${problemIn(error)}.`)
    else if (word.kind === 'log') this.#options.log(clipped(word.text, MAX_REASON_CHARS))
    else if (word.kind === 'ready') this.#ready(word.manifest)
    else if (word.kind === 'unfit') this.#fail(word.reason)
    else if (word.kind === 'ask') void this.#carry(word)
    else if (word.kind === 'threw') this.#waiting.get(word.id)?.reject(new PluginFault(word.reason, false))
    else this.#answered(word.id, word.json)
  }

  #ready(manifest: Manifest): void {
    this.#started = true
    this.#begun.resolve(manifest)
  }

  #answered(id: number, json: string | undefined): void {
    const asker = this.#waiting.get(id)
    if (!asker) return
    try {
      if (json && json.length > MAX_ANSWER_CHARS) throw new Error('too long')
      asker.resolve(json === undefined ? undefined : JSON.parse(json))
    } catch {
      asker.reject(new PluginFault(`Its answer is not JSON of at most ${MAX_ANSWER_CHARS} characters.`, false))
    }
  }

  async #carry({ id, operation, json, key }: Extract<z.infer<typeof Word>, { kind: 'ask' }>): Promise<void> {
    try {
      const answer = await this.#options.ask(operation, JSON.parse(json), key)
      if (!this.#over) this.#tell({ kind: 'answered', id, json: JSON.stringify(answer) })
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (!this.#over) this.#tell({ kind: 'refused', id, reason })
    }
  }

  #printed(chunk: Buffer): void {
    if (this.#over || this.#floods(0, chunk.length)) return
    this.#options.log(clipped(chunk.toString('utf8').trimEnd(), MAX_REASON_CHARS))
  }

  #floods(words: number, bytes: number): boolean {
    const now = performance.now()
    if (now - this.#rate.since > 1000) Object.assign(this.#rate, { since: now, words: 0, bytes: 0 })
    this.#rate.words += words
    this.#rate.bytes += bytes
    if (this.#rate.words <= MAX_WORDS && this.#rate.bytes <= MAX_PRINTED_BYTES) return false
    this.#fail('It flooded the fleet with messages.')
    return true
  }

  #fail(reason: string): void {
    if (this.#over) return
    const fault = new PluginFault(reason, true)
    this.#stop(fault)
    void this.#worker.terminate()
    if (this.#started) this.#options.ended(fault)
  }

  #stop(fault: PluginFault): void {
    this.#over ??= fault
    this.#begun.reject(this.#over)
    this.#begun.promise.catch(() => {})
    for (const each of this.#waiting.values()) each.reject(this.#over)
  }
}

const problemIn = ({ issues: [issue] }: z.ZodError): string => `${issue?.path.join('.')}: ${issue?.message}`

function reasonFor(error: unknown): string {
  if ((error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY') return `It used more than ${HEAP_MB} MB.`
  return error instanceof Error ? error.message : String(error)
}
