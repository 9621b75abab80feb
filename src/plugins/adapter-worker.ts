/** Runs in its own thread: loads a plugin only for its adapters, and calls them one at a time. */
import { parentPort, workerData } from 'node:worker_threads'
import { type AdapterOrder, type AdapterSeat, GONE, READY, SAID } from './adapter-seat.ts'
import { functionIn, loaded, reasonOf } from './loading.ts'
import type { CodeAgent } from './plugin.ts'

const { file, port, signs } = workerData as AdapterSeat

function say(word: object): void {
  port.postMessage(word)
  Atomics.add(signs, SAID, 1)
  Atomics.notify(signs, SAID)
}

// If somebody reads the streams of a thread, they keep the process alive, even a command that is done.
for (const stream of [process.stdout, process.stderr])
  Object.assign(stream, { write: (chunk: unknown) => parentPort!.postMessage(String(chunk)) ?? true })

// The caller learns at once that no answer will come.
process.on('exit', () => {
  Atomics.store(signs, GONE, 1)
  Atomics.add(signs, SAID, 1)
  Atomics.notify(signs, SAID)
})

function answer(agents: readonly CodeAgent[], { agent: name, of, json }: AdapterOrder): unknown {
  const agent = agents.find(each => each.name === name)
  if (!agent) throw new Error(`It has no agent ${name}.`)
  const called = functionIn(agent, of)
  if (!called) throw new Error(`It has no ${of}.`)
  const input = JSON.parse(json) as unknown[]
  return of === 'read' ? input.map(line => called(...(line as unknown[]))) : called(...input)
}

async function main(): Promise<void> {
  const plugin = await loaded(file)
  const agents = (plugin.agents ?? []).filter(agent => agent.kind === 'code')
  port.on('message', (order: AdapterOrder) => {
    const { id, of } = order
    const failed = (error: unknown) => say({ id, threw: reasonOf(error) })
    const told = (result: unknown) => say({ id, json: JSON.stringify(result) })
    try {
      const result = answer(agents, order)
      if (of === 'detect' || of === 'listModels') Promise.resolve(result).then(told).catch(failed)
      else told(result)
    } catch (error) {
      failed(error)
    }
  })
  say({ id: READY })
}

main().catch(error => say({ id: READY, threw: reasonOf(error) }))
