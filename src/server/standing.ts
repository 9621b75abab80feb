import type { Fleet } from '../fleet/fleet.ts'
import { isSignedIn } from '../fleet/people/devices.ts'
import type { Caller } from '../operations/operation.ts'

/** Several commits in a row cause one look at whether the session has ended. */
const LOOK_EVERY_MS = 200

/** Whether someone who was let in earlier, and now comes with a ticket, still would be. */
export async function isLetIn(fleet: Fleet, caller: Caller): Promise<boolean> {
  if (caller.kind === 'session') return (await standingOf(fleet, caller.session_id)) !== undefined
  return caller.device === undefined || isSignedIn(fleet, caller.device)
}

/** Ends live connections of a session with its token: when it has ended, or another host has claimed it. */
export function endWithSession(fleet: Fleet, caller: Caller, ending: AbortController): () => void {
  if (caller.kind !== 'session') return () => {}
  const { session_id } = caller
  let look: NodeJS.Timeout | undefined
  let since: number | undefined
  const compare = async () => {
    look = undefined
    const from = await standingOf(fleet, session_id).catch(() => since)
    since ??= from
    if (from === undefined || from !== since) ending.abort()
  }
  const hurry = () => {
    look ??= setTimeout(compare, LOOK_EVERY_MS)
  }
  const stop = fleet.store.watch(hurry)
  hurry()
  return () => {
    clearTimeout(look)
    stop()
  }
}

/** The generation from which on tokens of the session are accepted. Undefined: none is. */
async function standingOf(fleet: Fleet, sessionId: string): Promise<number | undefined> {
  const session = (await fleet.store.get('sessions', sessionId))?.value
  return session && session.status !== 'ended' ? session.tokens_from : undefined
}
