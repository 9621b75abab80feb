import { NotAllowed, NotFound } from '../../domain/errors.ts'
import type { Question } from '../../domain/records/talk.ts'
import type { Fleet } from '../fleet.ts'
import { all } from '../records.ts'
import { answerQuestion } from './questions.ts'

/** Questions whose time is up are answered by themselves; agents that have waited long are put aside. */
export async function lookAtQuestions(fleet: Fleet, putAside: (sessionId: string) => void): Promise<void> {
  const now = fleet.now()
  const long = new Date(Date.parse(now) - fleet.settings.parkAfter * 1000).toISOString()
  const open = (await Array.fromAsync(all(fleet, 'questions', 'open'))).map(({ value }) => value)
  for (const question of open) {
    if (question.deadline && question.deadline <= now) await timeOut(fleet, question)
    else if (question.created_at <= long && question.through === 'client') putAside(question.session_id)
  }
}

async function timeOut(fleet: Fleet, { id, kind, otherwise }: Question): Promise<void> {
  await answerQuestion(fleet, { operation: 'time_out', actor: 'fleet' }, async () => id, {
    decision: otherwise ?? 'deny',
    // What is allowed by itself goes on without a word.
    ...(kind === 'permission' && otherwise === 'allow' ? {} : { text: 'Nobody answered in time.' }),
  }).catch(error => {
    // A person answered in this moment, or its session ended.
    if (!(error instanceof NotAllowed || error instanceof NotFound)) throw error
  })
}
