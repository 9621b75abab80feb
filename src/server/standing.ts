import { Unauthorized } from '../domain/errors.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { isSignedIn } from '../fleet/people/devices.ts'
import type { Caller } from '../operations/operation.ts'
import { callerOf } from './auth.ts'

/** Several commits in a row cause one look. */
const LOOK_EVERY_MS = 200

/** Says whether whoever opened a live connection would still be let in. */
export type Standing = () => Promise<boolean>

/** By a token: whatever ended it, such as the end of its session, ends the connection. */
export const byToken =
  (fleet: Fleet, authorization: string): Standing =>
  () =>
    callerOf(fleet, authorization).then(
      () => true,
      // A store that gives no answer for a moment signs nobody out.
      error => !(error instanceof Unauthorized),
    )

/** By a ticket: as whoever asked for it. */
export const byTicket =
  (fleet: Fleet, caller: Caller): Standing =>
  async () => {
    if (caller.kind === 'owner') return caller.device === undefined || isSignedIn(fleet, caller.device)
    const session = (await fleet.store.get('sessions', caller.session_id))?.value
    return session !== undefined && session.status !== 'ended'
  }

/** Looks now, after commits, and now and then, because a sign-in may also end by itself. Returns how to stop. */
export function watchStanding(fleet: Fleet, isLetIn: Standing, everyMs: number, end: () => void): () => void {
  let soon: NodeJS.Timeout | undefined
  const look = async () => {
    soon = undefined
    if (!(await isLetIn().catch(() => true))) end()
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
