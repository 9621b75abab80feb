import { InvalidInput, NotAllowed, NotFound, Unfit } from '../../domain/errors.ts'
import type { Project } from '../../domain/records/project.ts'
import { conversationOf, type Session } from '../../domain/records/session.ts'
import type { Fleet } from '../fleet.ts'
import { lookUp } from '../records.ts'
import type { newestOf } from './sessions.ts'

const FRESH = 'Leave out the conversation, and say in the charter what the member has to know.'

/**
 * The session whose conversation a new member goes on with, as a copy in a place of its own. Only a session of the same
 * project counts, so nobody reads through a member what they may not see.
 */
export async function requireConversation(
  fleet: Fleet,
  project: Pick<Project, 'id' | 'name'>,
  ref: string,
  agent: string | undefined,
): Promise<Session> {
  const { value: session } = await lookUp(fleet, 'sessions', ref, each => each.project_id === project.id).catch(
    error => {
      if (!(error instanceof NotFound)) throw error
      throw new InvalidInput('conversation', `is no session of ${project.name}: ${ref}`, {
        try: 'Name a session by its id: fleet mission show lists those of a mission, fleet team show those of members.',
      })
    },
  )
  const why = obstacle(fleet, session, agent ?? session.agent)
  if (why) throw new InvalidInput('conversation', why, { try: FRESH })
  return session
}

/** Why an agent cannot go on with a copy of the conversation of a session. */
function obstacle(fleet: Fleet, session: Session, agent: string): string | undefined {
  const { can, title } = fleet.agents.named(session.agent)
  if (agent !== session.agent) return `is one of ${title}, and ${fleet.agents.named(agent).title} cannot go on with it`
  if (!can.fork) return `cannot be copied by ${title}`
  if (session.status !== 'ended') return `of session ${session.id} still goes on: wait until it has ended`
  return conversationOf(session) === null ? `was not begun in session ${session.id}` : undefined
}

/** The session whose conversation a member's next one copies. Undefined: it has one of its own, or began without. */
export async function toCopy(
  fleet: Fleet,
  { member, newest }: Awaited<ReturnType<typeof newestOf>>,
): Promise<Session | undefined> {
  const { handle, continues } = member
  if (!continues || (newest && conversationOf(newest) !== null)) return undefined
  const session = (await fleet.store.get('sessions', continues))?.value
  if (session) return session
  throw new Unfit(`The session ${continues}, whose conversation ${handle} was to go on with, was deleted.`, {
    try: ADD_AGAIN,
  })
}

const ADD_AGAIN = 'Dismiss the member, and add it again without a conversation.'

/** It never begins anew in silence: whoever added it counts on what it remembers. */
export function requireCopied(copied: Session, resumes: string | null): void {
  if (resumes !== null) return
  throw new NotAllowed(`The conversation of session ${copied.id} cannot be copied, or has no room left.`, {
    try: ADD_AGAIN,
  })
}

/** Why the first session of a member failed: its client does not know what it was to copy. */
export const lostInWords = (title: string, { resumes }: Session, reason: string): string =>
  `${title} does not have the conversation ${resumes}, which its member was to go on with. ${ADD_AGAIN} ${reason}`
