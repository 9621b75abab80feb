import { Unauthorized } from '../domain/errors.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { signInOf, standingOf } from '../fleet/people/signed-in.ts'
import { isPrincipal } from '../operations/authorize.ts'
import type { Caller } from '../operations/operation.ts'
import { callerOf } from './auth.ts'

/** Several commits in a row cause one look. */
const LOOK_EVERY_MS = 200

/** Says whether whoever opened a live connection would still be let in, and with the same roles. */
export type Standing = () => Promise<'in' | 'changed' | 'out'>

/** By a token: whatever ended it, such as the end of its session, ends the connection. */
export const byToken =
  (fleet: Fleet, authorization: string, caller: Caller): Standing =>
  () =>
    callerOf(fleet, authorization).then(
      now => (rolesOf(now) === rolesOf(caller) ? 'in' : 'changed'),
      // A store that gives no answer for a moment signs nobody out.
      error => (error instanceof Unauthorized ? 'out' : 'in'),
    )

const rolesOf = (caller: Caller): string =>
  isPrincipal(caller) ? JSON.stringify([caller.grants, caller.limit]) : caller.kind

/** By a ticket: as whoever asked for it. */
export const byTicket =
  (fleet: Fleet, caller: Caller): Standing =>
  async () => {
    if (caller.kind !== 'session') return standingOf(fleet, signInOf(caller))
    const session = (await fleet.store.get('sessions', caller.session_id))?.value
    return session !== undefined && session.status !== 'ended' ? 'in' : 'out'
  }

/** Looks now, after commits, and now and then, because a sign-in may also end by itself. Returns how to stop. */
export function watchStanding(
  fleet: Fleet,
  standing: Standing,
  everyMs: number,
  end: (why: 'changed' | 'out') => void,
): () => void {
  let soon: NodeJS.Timeout | undefined
  const look = async () => {
    soon = undefined
    const now = await standing().catch(() => 'in' as const)
    if (now !== 'in') end(now)
  }
  const stopWatching = fleet.store.watch(() => {
    soon ??= setTimeout(look, LOOK_EVERY_MS)
  })
  const timer = setInterval(look, everyMs)
  look()
  return () => {
    clearTimeout(soon)
    clearInterval(timer)
    stopWatching()
  }
}
