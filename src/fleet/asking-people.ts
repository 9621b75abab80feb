import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Fleet } from './fleet.ts'
import { markDelivered, questionId, raiseQuestion } from './questions.ts'
import { current } from './records.ts'

const LOOK_EVERY_MS = 200

/**
 * Asks a person through a tool and waits for a while. null: nobody has answered yet; the answer will start the next
 * session. The same words asked again in one session are the same question.
 */
export async function askHuman(
  fleet: Fleet,
  sessionId: string,
  text: string,
  { seconds, signal }: { seconds: number; signal: AbortSignal },
): Promise<string | null> {
  const { value: session } = await current(fleet, 'sessions', sessionId)
  const asked = `tool-${createHash('sha256').update(text).digest('hex').slice(0, 20)}`
  await raiseQuestion(fleet, session, { type: 'question', id: asked, text }, 'tool')
  const id = questionId(session.id, asked)
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
