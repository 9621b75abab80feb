import { NotAllowed, NotFound } from '../../domain/errors.ts'
import type { Question } from '../../domain/records/talk.ts'
import type { Fleet } from '../fleet.ts'
import { answerQuestion } from './questions.ts'

/** Answers a question whose time is up, and parks an agent that has waited long. */
export async function settleOverdue(
  fleet: Fleet,
  question: Question,
  putAside: (sessionId: string) => void,
): Promise<void> {
  const now = fleet.now()
  const long = new Date(Date.parse(now) - fleet.settings.parkAfter * 1000).toISOString()
  if (question.deadline && question.deadline <= now) await timeOut(fleet, question)
  else if (question.created_at <= long && question.through === 'client') putAside(question.session_id)
}

async function timeOut(fleet: Fleet, { id, kind, otherwise }: Question): Promise<void> {
  await answerQuestion(fleet, { operation: 'time_out', actor: 'fleet' }, async () => id, {
    decision: otherwise ?? 'deny',
    // A permission that is allowed automatically needs no words.
    ...(kind === 'permission' && otherwise === 'allow' ? {} : { text: wordsFor(kind) }),
  }).catch(error => {
    // A person answered at the same time, or its session ended.
    if (!(error instanceof NotAllowed || error instanceof NotFound)) throw error
  })
}

/** What the fleet interrupted goes on. */
const wordsFor = (kind: Question['kind']): string =>
  kind === 'interruption'
    ? 'You were silent for long. Go on, or end your turn and say what keeps you from it.'
    : 'Nobody answered in time.'
