import type { Session } from '../../domain/records/session.ts'
import type { Fleet } from '../fleet.ts'
import { postsFor } from './board.ts'
import { handCheckpoints } from './checkpoints.ts'
import { reservedByOthers } from './reservations.ts'

/** What a member is told at the start of a session beside its mail. */
export async function besideMail(fleet: Fleet, session: Session): Promise<string> {
  if (!session.member_id) return ''
  const checkpoints = await handCheckpoints(fleet, session)
  const posts = await postsFor(fleet, session.member_id)
  const many = posts === 1 ? '1 unread post' : `${posts} unread posts`
  const unread = posts ? `The blackboard has ${many} for you: see blackboard_read with for_me and unread_only.` : ''
  const reserved = await reservedByOthers(fleet, session)
  return [checkpoints, unread, reserved].filter(Boolean).join('\n\n')
}
