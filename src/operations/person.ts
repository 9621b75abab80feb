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

/** A token that ends must not live on in one that does not. */
export function requireNoLonger(caller: Caller, expires_at: string | null): void {
  if (!isPrincipal(caller) || !caller.expires_at) return
  if (expires_at === null || Date.parse(expires_at) > Date.parse(caller.expires_at))
    throw new Forbidden('A token makes none that lasts longer than itself.', {
      try: `Let it end at ${caller.expires_at} or before.`,
    })
}
