import { Unreachable } from '../../domain/errors.ts'
import type { Session } from '../../domain/records/session.ts'
import { newestLaunch } from '../../platform/launch-folder.ts'
import type { Fleet } from '../fleet.ts'
import { isHere } from '../sessions/record.ts'

/** The folder with the transcript of a session; undefined: it has printed nothing yet. Throws if it is on another host. */
export function launchOf(fleet: Fleet, session: Pick<Session, 'id' | 'host'>): string | undefined {
  const directory = newestLaunch(fleet.home.session(session.id), 'agent')
  if (!directory && !isHere(fleet, session))
    throw new Unreachable(`The transcript of session ${session.id} is on host ${session.host}, not on this one.`, {
      try: 'Read it at a server of that host. fleet status lists the servers.',
    })
  return directory
}
