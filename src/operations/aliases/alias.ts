import type * as z from 'zod'
import type { Caller, Elicit } from '../operation.ts'
import type { ToolSet } from '../tool-sets.ts'

/**
 * Names and inputs that people and their clients know from other tools, translated into our operations. Only this
 * folder knows them, and MCP offers them as tools.
 */
export interface Alias<I extends z.ZodObject = z.ZodObject> {
  name: string
  summary: string
  knownFrom: 'claude-devfleet' | 'codefleet' | 'claude-fleet'
  set: ToolSet
  input: I
  readOnly?: boolean
  /** It may take long, and reports its progress. */
  long?: boolean
  /** Agents at work are offered it too. What they may do with it is decided by the operations it uses. */
  forAgents?: boolean
  run(ask: Ask, input: z.infer<I>, elicit: Elicit | undefined, caller: Caller): Promise<unknown>
}

/** Runs an operation in the name of the alias's caller. `signal` ends a wait early. */
export type Ask = <T>(operation: string, input: object, signal?: AbortSignal) => Promise<T>

/** Makes the aliases of one surface, which all have the same origin. */
export const aliasesOf =
  (surface: Pick<Alias, 'knownFrom' | 'set' | 'forAgents'>) =>
  <I extends z.ZodObject>(definition: Omit<Alias<I>, 'knownFrom' | 'set' | 'forAgents'>): Alias =>
    ({ ...definition, ...surface }) as unknown as Alias
