import type * as z from 'zod'

/**
 * Names and inputs that people and their clients know from other tools, each told in operations of ours. This folder
 * is the only place that knows them; MCP offers them as tools.
 */
export interface Alias<I extends z.ZodObject = z.ZodObject> {
  name: string
  summary: string
  /** `flotilla`: our own name, beside those that others know. */
  knownFrom: 'claude-devfleet' | 'codefleet' | 'flotilla'
  set: AliasSet
  input: I
  readOnly?: boolean
  /** Takes its time and says how far it is. */
  long?: boolean
  run(ask: Ask, input: z.infer<I>): Promise<unknown>
}

/** Which tools a client wants to see. */
export const ALIAS_SETS = ['missions', 'workers', 'workflows'] as const
export type AliasSet = (typeof ALIAS_SETS)[number]

/** Asks for an operation in the name of whoever asked for the alias. */
export type Ask = <T>(operation: string, input: object) => Promise<T>

/** Each surface says once where its names are known from. */
export const aliasesOf =
  (surface: Pick<Alias, 'knownFrom' | 'set'>) =>
  <I extends z.ZodObject>(definition: Omit<Alias<I>, 'knownFrom' | 'set'>): Alias =>
    ({ ...definition, ...surface }) as unknown as Alias
