import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'
import { type Declaration, environmentFor } from '../declaration.ts'
import { type Json, list, object, parseObject, string } from '../json.ts'
import { greeting } from './dialogue.ts'
import { SESSION } from './read.ts'

const PATIENCE_MS = 20_000

/** The models that an agent lists when a conversation is opened. No prompt is sent, so no model is called. */
export async function listAcpModels(
  declared: Declaration,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<string[]> {
  const [program, ...args] = declared.command
  const cwd = tmpdir()
  const child = spawn(program, args, {
    cwd,
    env: environmentFor(declared, variables),
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: PATIENCE_MS,
  })
  const ended = new Promise<void>(done => child.once('error', () => done()).once('close', () => done()))
  child.stdin.on('error', () => {})
  const [first, ...rest] = greeting(cwd)
  child.stdin.write(`${first}\n`)
  let names: string[] = []
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const message = parseObject(line)
      if (message?.id === undefined || message.method !== undefined) continue
      if (message.id === SESSION) {
        names = namesIn(object(message.result) ?? {})
        break
      }
      for (const next of rest.splice(0)) child.stdin.write(`${next}\n`)
    }
  } finally {
    child.kill()
    await ended
  }
  return names
}

/** The protocol has two ways to list them. */
function namesIn(result: Json): string[] {
  const options = list(result.configOptions).map(each => object(each) ?? {})
  const offered = list(options.find(({ category }) => category === 'model')?.options).map(each => object(each)?.value)
  const available = list(object(result.models)?.availableModels).map(each => object(each)?.modelId)
  return [...new Set([...offered, ...available].map(string).filter(name => name !== null))]
}
