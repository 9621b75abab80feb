import { createHash } from 'node:crypto'
import { NotFound } from '../domain/errors.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { Ask } from './aliases/index.ts'
import { audited } from './auditing.ts'
import { authorize } from './authorize.ts'
import { withoutCosts } from './costs.ts'
import { operationNamed } from './index.ts'
import type { Context, Query } from './operation.ts'
import { parseInput } from './shape.ts'

type Asking = Omit<Context, 'fleet'>
const OWNER: Asking = { caller: { kind: 'owner' }, signal: new AbortController().signal }

/** Runs an operation with an input that was already read, if the caller may use it. */
export async function asked(context: Context, operation: Query, input: Record<string, unknown>): Promise<unknown> {
  return audited(
    operation,
    context,
    () => input,
    async fleet => {
      const seen = await authorize(operation, { ...context, fleet }, input)
      return withoutCosts(
        context.caller,
        operation.output.parse(await operation.run({ ...context, fleet: seen }, input)),
      )
    },
  )
}

/** Runs operations within one call: with its key, its signal and its progress. */
export function askOf(fleet: Fleet, asking: Asking = OWNER): Ask {
  const used = new Set<string>()
  return async <T>(name: string, input: object, signal?: AbortSignal) => {
    const operation = operationNamed(name)
    if (!operation || operation.kind === 'stream') throw new NotFound('operation that answers', name)
    const until = signal ? AbortSignal.any([asking.signal, signal]) : asking.signal
    // One call may use an operation several times, each time for something else.
    const key = asking.key && used.has(name) ? keyFor(asking.key, input) : asking.key
    used.add(name)
    return (await asked({ fleet, ...asking, key, signal: until }, operation, parseInput(operation, input))) as T
  }
}

const keyFor = (key: string, input: object): string =>
  createHash('sha256').update(key).update(JSON.stringify(input)).digest('base64url')

/** Runs an operation for a plugin: it may do everything that the owner may, under its own name. */
export const askAsPlugin = (
  fleet: Fleet,
  plugin: string,
  name: string,
  input: unknown,
  key?: string,
): Promise<unknown> =>
  askOf(fleet, { ...OWNER, caller: { kind: 'owner', plugin }, from: { way: 'plugin' }, key })(name, input as object)
