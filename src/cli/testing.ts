import { PassThrough } from 'node:stream'
import type { Item } from '../operations/operation.ts'
import { run } from './program.ts'
import type { Client } from './server.ts'
import type { Streams } from './terminal.ts'

interface Asked {
  operation: string
  input: Record<string, unknown>
}

export interface Ran {
  code: number
  out: string
  err: string
  asked: Asked[]
}

interface Given {
  /** A function is called for each answer. */
  answers?: Record<string, unknown>
  items?: Record<string, Item<unknown>[] | ((signal: AbortSignal) => AsyncIterable<Item<unknown>>)>
  stdin?: string
  cwd?: string
  env?: NodeJS.ProcessEnv
  terminal?: boolean
  /** Connect for real, instead of to the answers. */
  real?: boolean
}

/** Runs one command line in this process with given answers, and returns what it asked for. */
export async function fleet(args: string[], given: Given = {}): Promise<Ran> {
  const [stdout, stderr] = [sink(given.terminal), sink(given.terminal)]
  const asked: Asked[] = []
  const stdin = Object.assign(new PassThrough(), { isTTY: given.terminal })
  stdin.end(given.stdin ?? '')
  const streams: Streams = { stdin, stdout, stderr, env: given.env ?? {}, cwd: given.cwd ?? '/' }
  const client: Client = {
    async call<T>(operation: string, input: object) {
      asked.push({ operation, input: JSON.parse(JSON.stringify(input)) })
      const found = given.answers?.[operation]
      const answer = typeof found === 'function' ? found() : found
      if (answer instanceof Error) throw answer
      return answer as T
    },
    async *stream<T>(operation: string, input: object, signal: AbortSignal) {
      asked.push({ operation, input: JSON.parse(JSON.stringify(input)) })
      const items = given.items?.[operation] ?? []
      yield* (typeof items === 'function' ? items(signal) : items) as AsyncIterable<Item<T>>
    },
    wake: async () => void asked.push({ operation: 'wake', input: {} }),
    close: async () => {},
  }
  const code = await run(args, { streams, ...(!given.real && { connect: async () => client }) })
  return { code, out: stdout.text(), err: stderr.text(), asked }
}

function sink(isTTY = false) {
  const chunks: Buffer[] = []
  const stream = new PassThrough()
  stream.on('data', chunk => chunks.push(chunk))
  return Object.assign(stream, {
    isTTY,
    columns: 80,
    text: () => {
      for (let chunk = stream.read(); chunk !== null; chunk = stream.read()) chunks.push(chunk)
      return Buffer.concat(chunks).toString('utf8')
    },
  })
}
