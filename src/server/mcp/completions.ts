import type { Ask } from '../../operations/aliases/index.ts'
import type { Complete } from './offer.ts'

/** How many of the newest records are searched. */
const LOOKED_AT = 200

/** Completes the ids of the newest records and, for projects, their names, which are accepted wherever an id is. */
export function completionsOf(ask: Ask): Record<'projects' | 'missions' | 'sessions', Complete> {
  const of =
    (field: 'projects' | 'missions' | 'sessions'): Complete =>
    async (_, typed) => {
      const page = await ask<Record<string, { id: string; name?: string }[]>>(`list_${field}`, { limit: LOOKED_AT })
      const meant = page[field]!.flatMap(({ id, name }) => (name === undefined ? [id] : [name, id]))
      return meant.filter(each => each.toLowerCase().startsWith(typed.toLowerCase()))
    }
  return { projects: of('projects'), missions: of('missions'), sessions: of('sessions') }
}
