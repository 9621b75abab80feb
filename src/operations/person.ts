import { Forbidden } from '../domain/errors.ts'
import { isPerson, isPrincipal } from './authorize.ts'
import type { Caller } from './operation.ts'

/** What must not be decided for a person is refused to agents, plugins and services. */
export function requirePerson(caller: Caller, what: string): void {
  if (!isPerson(caller)) throw new Forbidden(`Only a person can ${what}.`)
}

/** A browser has all roles of its person, for thirty days. A token that has less, or ends, must not turn into one. */
export function requireWhole(caller: Caller): void {
  if (isPrincipal(caller) && (caller.limit !== null || caller.expires_at))
    throw new Forbidden('A token that is limited or expires signs no device in.', {
      try: 'Use a browser that is signed in, or ask an owner of this fleet for a link.',
    })
}
