import { Forbidden } from '../domain/errors.ts'
import type { Caller, Operation } from './operation.ts'

/**
 * Whether the caller may use this operation. The owner may use everything. What a running agent may use can depend on
 * the input; without an input, the question is whether it may use the operation at all.
 */
export function authorize(operation: Operation, caller: Caller, input?: Record<string, unknown>): void {
  if (caller.kind === 'owner') return
  if (caller.kind === 'monitor') {
    if (operation.may === 'metrics.read') return
    throw new Forbidden(`A scrape token may not use ${operation.name}: it only reads measurements.`)
  }
  const { agentMay, name } = operation
  if (!agentMay || (input && !agentMay(caller, input)))
    throw new Forbidden(`The token of a session may not use ${name}.`, {
      try: 'An agent can ask only about its own mission.',
    })
}
