import type { Session } from '../../domain/records/session.ts'
import type { Fleet } from '../fleet.ts'
import { postsFor } from './board.ts'

/** What a member is told at the start of a session beside its mail. */
export async function besideMail(fleet: Fleet, { member_id }: Session): Promise<string> {
  if (!member_id) return ''
  const posts = await postsFor(fleet, member_id)
  const many = posts === 1 ? '1 unread post' : `${posts} unread posts`
  return posts ? `The blackboard has ${many} for you: see blackboard_read with for_me and unread_only.` : ''
}
