import { safeLine } from '../platform/safe-text.ts'
import type { Cli } from './command.ts'

/** How people are called whom an answer names as `person:<id>`. Nobody is asked for while the owner is alone. */
export async function namesIn(
  cli: Cli,
  actors: readonly (string | null | undefined)[],
): Promise<(actor: string) => string> {
  if (!actors.some(actor => /^(person$|(person|service):)/.test(actor ?? ''))) return actor => actor
  const [{ names }, me] = await Promise.all([
    cli.ask<{ names: { id: string; kind: string; name: string }[] }>('list_names', {}),
    cli.ask<{ kind: string }>('who_am_i', {}),
  ])
  const known = new Map(names.map(({ id, kind, name }) => [`${kind}:${id}`, safeLine(name)]))
  known.set('person', me.kind === 'owner' ? 'you' : 'the owner')
  return actor => known.get(actor) ?? actor
}
