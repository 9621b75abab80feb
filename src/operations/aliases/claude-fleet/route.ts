import type * as z from 'zod'
import type { Caller, Operation } from '../../operation.ts'
import type { Ask } from '../alias.ts'

/** Who asks, and how operations are run in their name. */
export interface Asker {
  ask: Ask
  caller: Caller
}

/** A route of claude-fleet. It is made of our operations, so whoever may not use those gets nothing here either. */
export interface Route<I extends z.ZodObject = z.ZodObject> {
  http: Operation['http']
  input: I
  run(asker: Asker, input: z.infer<I>): Promise<unknown>
}

/** An unknown field is refused, not ignored. */
export const route = <I extends z.ZodObject>(
  http: Route['http'],
  input: I,
  run: (asker: Asker, input: z.infer<I>) => Promise<unknown>,
): Route => ({ http, input: input.strict(), run }) as unknown as Route
