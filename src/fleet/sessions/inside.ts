import { NotAllowed } from '../../domain/errors.ts'
import type { NewEvent } from '../../domain/records/event.ts'
import { Claim } from '../../domain/records/report.ts'
import type { Session } from '../../domain/records/session.ts'
import { about } from '../../domain/rules/life.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { current, put } from '../records.ts'

/** Changes a session in its own name. A session that has ended may not do that any more. */
export async function changeSession(
  fleet: Fleet,
  ask: Ask,
  id: string,
  decide: (session: Session) => Promise<{ session: Session; events?: NewEvent[] }>,
): Promise<Session> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'sessions', id)
    if (value.status === 'ended') throw new NotAllowed(`Session ${id} has ended.`)
    const { session, events } = await decide(value)
    return { subject: id, changes: [put('sessions', session, version)], events }
  })
  return (await current(fleet, 'sessions', id)).value
}

/** Keeps the report of an agent. The last one of a session counts. */
export async function submitReport(fleet: Fleet, ask: Ask, sessionId: string, claim: Claim): Promise<void> {
  const text = await fleet.blobs.keep(JSON.stringify(claim))
  await changeSession(fleet, ask, sessionId, async session => ({
    session: { ...session, claim: text },
    events: [
      about({ id: session.mission_id, project_id: session.project_id }, 'reported', by(fleet, ask), {
        session_id: session.id,
        data: { status: claim.status },
      }),
    ],
  }))
}

export async function submittedClaim(fleet: Fleet, session: Session): Promise<Claim | undefined> {
  return session.claim ? Claim.parse(JSON.parse(await fleet.blobs.read(session.claim))) : undefined
}
