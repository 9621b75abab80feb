import { Forbidden } from '../domain/errors.ts'
import { isPerson } from './authorize.ts'
import type { Caller } from './operation.ts'

/** What must not be decided for a person is refused to agents, plugins and services. */
export function requirePerson(caller: Caller, what: string): void {
  if (!isPerson(caller)) throw new Forbidden(`Only a person can ${what}.`)
}
