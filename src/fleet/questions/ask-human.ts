import { createHash } from 'node:crypto'
import type { Session } from '../../domain/records/session.ts'
import { CONTINUES } from '../dispatch/next-session.ts'
import type { Fleet } from '../fleet.ts'
import { current, sessionsOf } from '../records.ts'
import { untilSeen } from '../watching.ts'
import { markDelivered, questionId, raiseQuestion } from './questions.ts'

/**
 * Asks a person through a tool and waits for a while. Null: nobody has answered. A later answer starts the next
 * session. The same words in one session are the same question. A later session that does not remember the first, such
 * as a script that is started again, gets the answer that was given.
 */
export async function askHuman(
  fleet: Fleet,
  sessionId: string,
  text: string,
  { seconds, signal }: { seconds: number; signal: AbortSignal },
): Promise<string | null> {
  const { value: session } = await current(fleet, 'sessions', sessionId)
  const asked = `tool-${createHash('sha256').update(text).digest('hex').slice(0, 20)}`
  const id = (await answeredBefore(fleet, session, asked)) ?? questionId(session.id, asked)
  if (id === questionId(session.id, asked))
    await raiseQuestion(fleet, session, { type: 'question', id: asked, text }, 'tool')
  const look = async () => {
    const { value } = await current(fleet, 'questions', id)
    return value.status === 'open' ? undefined : value
  }
  const closed = await untilSeen(fleet.store, look, { ms: seconds * 1000, signal })
  if (!closed?.answer) return null
  await markDelivered(fleet, id)
  return closed.answer.text ?? (closed.answer.decision === 'allow' ? 'yes' : 'no')
}

/** The question of an earlier session in the same words, if it was answered. */
async function answeredBefore(fleet: Fleet, session: Session, asked: string): Promise<string | undefined> {
  const before = (await sessionsOf(fleet, session.mission_id))
    .map(({ value }) => value)
    .filter(({ number }) => number < session.number)
    .toSorted((one, other) => other.number - one.number)
  let at = session
  for (const earlier of before) {
    if (at.resumes !== null || !CONTINUES.includes(at.reason)) return undefined
    const id = questionId(earlier.id, asked)
    if ((await fleet.store.get('questions', id))?.value.status === 'answered') return id
    at = earlier
  }
  return undefined
}
