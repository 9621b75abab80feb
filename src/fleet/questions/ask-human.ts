import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Session } from '../../domain/records/session.ts'
import { CONTINUES } from '../dispatch/next-session.ts'
import type { Fleet } from '../fleet.ts'
import { all, current } from '../records.ts'
import { markDelivered, questionId, raiseQuestion } from './questions.ts'

const LOOK_EVERY_MS = 200

/**
 * Asks a person through a tool and waits for a while. null: nobody has answered yet; the answer will start the next
 * session. The same words asked again in one session are the same question, and so they are in one that goes on
 * without remembering, as a script does that is started again: it gets the answer that was given.
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
  for (const end = performance.now() + seconds * 1000; ; ) {
    const { status, answer } = (await current(fleet, 'questions', id)).value
    if (status !== 'open') {
      await markDelivered(fleet, id)
      return answer?.text ?? (answer?.decision === 'allow' ? 'yes' : 'no')
    }
    if (performance.now() >= end || signal.aborted) return null
    await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
  }
}

/** The question of an earlier session that this one goes on from, if it was asked in the same words and answered. */
async function answeredBefore(fleet: Fleet, session: Session, asked: string): Promise<string | undefined> {
  const before = (await Array.fromAsync(all(fleet, 'sessions', 'mission', [session.mission_id])))
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
