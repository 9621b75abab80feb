import { Refusal, Unavailable } from '../domain/errors.ts'

/** An error in words for a person: one sentence and, where there is a hint, what to do. */
export function sentence(error: unknown): string {
  if (error instanceof Refusal || error instanceof Unavailable)
    return error.hint
      ? `${error.message} ${/^fleet /.test(error.hint) ? `Try: ${error.hint}` : error.hint}`
      : error.message
  return error instanceof Error ? error.message : String(error)
}
