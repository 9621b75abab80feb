import { NotAllowed } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { NewEvent } from '../../domain/records/event.ts'
import type { Session } from '../../domain/records/session.ts'
import type { Message } from '../../domain/records/talk.ts'
import type { Told } from '../../domain/records/told.ts'
import { about, type By } from '../../domain/rules/life.ts'
import { named } from '../../domain/rules/named.ts'
import type { Change, Stored } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { keepTold } from '../missions/images.ts'
import { requireLooking } from '../missions/requirements.ts'
import { all, current, put } from '../records.ts'
import { heardAsMail, requireNoTerminal } from '../teams/sessions.ts'

export interface Said {
  message: Message
  /** When the agent hears it: in the middle of its turn, or after it. */
  heard: 'mid-turn' | 'next-turn'
}

/** Commits a message to an agent at work. The daemon delivers it. */
export async function sayToMission(
  fleet: Fleet,
  ask: Ask,
  missionId: string,
  words: string,
  images: readonly string[] = [],
): Promise<Said> {
  const text = (await keepTold(fleet, words, images))!
  const id = await oncePerKey(fleet, ask, async () => {
    const mission = await current(fleet, 'missions', missionId)
    const session = await listening(fleet, mission.value.session_id, missionId)
    if (images.length) requireLooking(fleet.agents.driven(session.value), missionId)
    const id = newId()
    const told = messageTo(session, id, text, by(fleet, ask))
    return {
      subject: id,
      changes: [told.message, put('sessions', told.session, session.version)],
      events: [told.event],
    }
  })
  const message = (await current(fleet, 'messages', id)).value
  const { agent } = (await current(fleet, 'sessions', message.session_id)).value
  return { message, heard: fleet.agents.ofSession(agent).can.liveMessages === 'mid-turn' ? 'mid-turn' : 'next-turn' }
}

/**
 * A message to a session at work, and the session that names it, because its end looks for unheard messages. Both are
 * written in one commit, and the daemon delivers it.
 */
export function messageTo(
  { value: session }: Stored<Session>,
  id: string,
  text: Told,
  when: By,
  deliveryId: string | null = null,
): { message: Change; session: Session; event: NewEvent } {
  const { id: session_id, mission_id, project_id } = session
  const of = { id, mission_id, project_id, session_id }
  const author = when.actor
  const made: Message = { ...of, author, text, delivery_id: deliveryId, status: 'waiting', created_at: when.now }
  const event = about({ id: mission_id, project_id }, 'message', when, { session_id, data: { message: id } })
  return {
    message: put('messages', made, 'absent'),
    session: { ...session, messages: named(session.messages, id) },
    event,
  }
}

async function listening(fleet: Fleet, sessionId: string | null, missionId: string): Promise<Stored<Session>> {
  const session = sessionId ? await fleet.store.get('sessions', sessionId) : undefined
  const resume = { try: `fleet mission resume ${missionId} --message "…"` }
  if (!session || session.value.status === 'ended')
    throw new NotAllowed(`No agent is at work on mission ${missionId}.`, resume)
  if (session.value.reason === 'takeover')
    throw new NotAllowed(`A person has taken mission ${missionId} over: say it to them.`)
  requireNoTerminal(session.value)
  const { title, can } = fleet.agents.ofSession(session.value.agent)
  if (can.liveMessages === 'no') throw new NotAllowed(`${title} cannot receive messages while it works.`, resume)
  return session
}

export async function waitingMessages(fleet: Fleet, sessionId: string): Promise<Message[]> {
  return (await Array.fromAsync(all(fleet, 'messages', 'waiting', [sessionId]))).map(stored => stored.value)
}

export async function markArrived(fleet: Fleet, message: Message): Promise<void> {
  await retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'messages', message.id)
    if (value.status !== 'waiting') return
    const when = { actor: 'fleet', now: fleet.now() }
    const event = about({ id: value.mission_id, project_id: value.project_id }, 'message_arrived', when, {
      session_id: value.session_id,
      data: { message: value.id },
    })
    await fleet.commit('commit.message-arrived', {
      changes: [
        put('messages', { ...value, status: 'arrived' }, version),
        ...(await heardAsMail(fleet, value, when.now)),
      ],
      events: [event],
    })
  })
}
