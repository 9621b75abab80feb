import { NotFound } from '../domain/errors.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { Ask } from './aliases/index.ts'
import { operationNamed } from './index.ts'
import type { Context } from './operation.ts'
import { parseInput } from './shape.ts'

type Asking = Omit<Context, 'fleet'>
const OWNER: Asking = { caller: { kind: 'owner' }, signal: new AbortController().signal }

/** Operations as they are asked for within one call: with its key, its signal and whoever hears how far it is. */
export function askOf(fleet: Fleet, asking: Asking = OWNER): Ask {
  return async <T>(name: string, input: object) => {
    const operation = operationNamed(name)
    if (!operation || operation.kind === 'stream') throw new NotFound('operation that answers', name)
    const answer = await operation.run({ fleet, ...asking }, parseInput(operation, input))
    return operation.output.parse(answer) as T
  }
}

/** As a plugin asks: with all the owner may, and under its own name. */
export const askAsPlugin = (
  fleet: Fleet,
  plugin: string,
  name: string,
  input: unknown,
  key?: string,
): Promise<unknown> => askOf(fleet, { ...OWNER, caller: { kind: 'owner', plugin }, key })(name, input as object)
