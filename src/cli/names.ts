import { Refusal } from '../domain/errors.ts'
import { safeLine } from '../platform/safe-text.ts'
import type { Cli } from './command.ts'

interface Names {
  names: { id: string; kind: string; name: string }[]
}

/** How people are called whom an answer names as `person` (the owner) or `person:<id>`. */
export async function namesIn(
  cli: Cli,
  actors: readonly (string | null | undefined)[],
): Promise<(actor: string) => string> {
  if (!actors.some(actor => /^(person$|(person|service):)/.test(actor ?? ''))) return actor => actor
  const [found, me] = await Promise.all([
    ifAllowed(cli.ask<Names>('list_names', {})),
    ifAllowed(cli.ask<{ kind: string }>('who_am_i', {})),
  ])
  const known = new Map(found?.names.map(({ id, kind, name }) => [`${kind}:${id}`, safeLine(name)]))
  known.set('person', me?.kind === 'owner' ? 'you' : 'the owner')
  return actor => known.get(actor) ?? actor
}

/** An agent at work may not ask who is there. */
async function ifAllowed<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Refusal && error.status === 403) return undefined
    throw error
  }
}
