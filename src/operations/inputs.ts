import * as z from 'zod'
import { InvalidInput } from '../domain/errors.ts'
import type { Ask } from '../fleet/commands.ts'
import type { Caller, Context } from './operation.ts'

export const Ref = z.string().min(1).max(120).describe('an id, or its first letters')
export const ProjectRef = Ref.describe('an id, its first letters, or its name')
export const Paging = { limit: z.number().int().min(1).max(500).default(50), cursor: z.string().max(500).optional() }

/** The same fields, each optional and without its default: a field that is not sent is not changed. */
export function edits<S extends z.ZodRawShape>(
  schema: z.ZodObject<S>,
): z.ZodObject<{ [K in keyof S]: z.ZodOptional<WithoutDefault<S[K]>> }> {
  const shape = Object.entries(schema.shape).map(([name, field]) => [
    name,
    (field instanceof z.ZodDefault ? (field.unwrap() as z.ZodType) : (field as z.ZodType)).optional(),
  ])
  return z.object(Object.fromEntries(shape)) as never
}
type WithoutDefault<F> = F extends z.ZodDefault<infer Inner> ? Inner : F

/** Only the fields that were sent. */
export const given = <T extends object>(fields: T): Partial<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>

export function actorNamed(caller: Caller): string {
  switch (caller.kind) {
    case 'session':
      return `session:${caller.session_id}`
    case 'owner':
      return caller.plugin ? `plugin:${caller.plugin}` : 'person'
    case 'monitor':
      return 'monitor'
    default:
      return `${caller.kind}:${caller.id}`
  }
}

export const actorOf = ({ caller }: Context): string => actorNamed(caller)
export const ask = (context: Context, operation: string): Ask => ({
  operation,
  actor: actorOf(context),
  key: context.key,
  input: context.fingerprint,
})

/** Clients of older tools send `prompt` instead of `detailed_prompt`. */
export function promptOf(input: { detailed_prompt?: string; prompt?: string }): string {
  const prompt = input.detailed_prompt ?? input.prompt
  if (!prompt?.trim()) throw new InvalidInput('detailed_prompt', 'is missing: say what the agent should do')
  return prompt
}
