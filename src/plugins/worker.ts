/** Runs in a plugin's own thread: loads the plugin, calls it, and carries its requests to the fleet. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Given, Order } from './contract.ts'
import { described, loaded, reasonOf } from './loading.ts'
import type { FleetApi, Plugin } from './plugin.ts'

const { file, settings } = workerData as Given
const port = parentPort!
const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
let asked = 0

const fleet: FleetApi = {
  settings,
  call: <T>(operation: string, input: object = {}, { key }: { key?: string } = {}) =>
    new Promise<T>((resolve, reject) => {
      const id = ++asked
      waiting.set(id, { resolve: resolve as (value: unknown) => void, reject })
      port.postMessage({ kind: 'ask', id, operation: String(operation), json: JSON.stringify(input), key })
    }),
  log: text => port.postMessage({ kind: 'log', text: String(text) }),
}

type Callable = (input: unknown, fleet: FleetApi) => unknown

function callableIn(plugin: Plugin, of: 'hooks' | 'tools', name: string): Callable {
  const found = of === 'hooks' ? plugin.hooks?.[name as keyof Plugin['hooks']] : plugin.tools?.[name]
  const callable = of === 'hooks' ? found : (found as { run?: unknown } | undefined)?.run
  if (typeof callable !== 'function') throw new Error(`It has no ${name}.`)
  // As a method, so that a plugin written as a class works too.
  return (input, api) => (callable as Callable).call(of === 'hooks' ? plugin.hooks : found, input, api)
}

function manifestOf({ description = '', hooks = {}, tools = {}, agents = [], settings: fields = [] }: Plugin): object {
  const named = Object.entries(tools).map(([name, { summary, input = { type: 'object' }, read_only = false }]) => ({
    name,
    summary,
    input,
    read_only,
  }))
  const brought = agents.map(agent => (agent?.kind === 'code' ? described(agent) : agent))
  return { description, hooks: Object.keys(hooks), tools: named, agents: brought, settings: fields }
}

async function answer(plugin: Plugin, { id, of, name, input }: Extract<Order, { kind: 'call' }>): Promise<void> {
  try {
    const result = await callableIn(plugin, of, name)(input, fleet)
    port.postMessage({ kind: 'answer', id, json: JSON.stringify(result) })
  } catch (error) {
    port.postMessage({ kind: 'threw', id, reason: reasonOf(error) })
  }
}

function heard(order: Extract<Order, { kind: 'answered' | 'refused' }>): void {
  const asker = waiting.get(order.id)
  waiting.delete(order.id)
  if (order.kind === 'refused') asker?.reject(new Error(order.reason))
  else asker?.resolve(order.json === undefined ? undefined : JSON.parse(order.json))
}

async function main(): Promise<void> {
  const loading = loaded(file)
  // Listens from the beginning, because `start` may call the fleet too.
  port.on('message', (order: Order) => {
    if (order.kind === 'call') void loading.then(plugin => answer(plugin, order))
    else heard(order)
  })
  try {
    const plugin = await loading
    await plugin.start?.(fleet)
    port.postMessage({ kind: 'ready', manifest: JSON.parse(JSON.stringify(manifestOf(plugin))) })
  } catch (error) {
    port.postMessage({ kind: 'unfit', reason: reasonOf(error) })
  }
}

void main()
