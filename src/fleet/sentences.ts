import { Refusal } from '../domain/errors.ts'

/** What went wrong, for a person: one sentence and, where there is one, what to do. */
export function sentence(error: unknown): string {
  if (error instanceof Refusal) return [error.message, error.hint].filter(Boolean).join(' ')
  return error instanceof Error ? error.message : String(error)
}
