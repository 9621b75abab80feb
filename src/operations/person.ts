import { Forbidden } from '../domain/errors.ts'
import type { Caller } from './operation.ts'

/** Plugins ask as the owner. What must not be decided for a person is refused to them here, and to agents. */
export function requirePerson(caller: Caller, what: string): void {
  if (caller.kind !== 'owner' || caller.plugin) throw new Forbidden(`Only a person can ${what}.`)
}
