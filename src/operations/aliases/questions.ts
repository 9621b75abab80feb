import { NotAllowed } from '../../domain/errors.ts'
import type { MissionNotes } from '../notes.ts'
import type { Elicit, Form } from '../operation.ts'
import type { QuestionView } from '../talk.ts'
import type { MissionView } from '../views.ts'
import type { Ask } from './alias.ts'

interface Waited {
  answer: string
  mission: MissionView
}

/**
 * Waits for a mission. If its agent asks something and the client can show a form, the person at the client gets the
 * question. Their answer counts like any other, and the wait goes on. If somebody else answers first, the form is
 * withdrawn. A person who does not answer in time is asked again next time.
 */
export async function waitFor(
  ask: Ask,
  { mission_id, timeout_seconds }: { mission_id: string; timeout_seconds: number },
  elicit?: Elicit,
): Promise<Waited> {
  const end = performance.now() + timeout_seconds * 1000
  for (;;) {
    const left = Math.max(0, end - performance.now())
    const waited = await ask<Waited>('wait_for_mission', { mission_id, timeout_seconds: left / 1000 })
    if (!elicit || waited.answer !== 'needs_person' || performance.now() >= end) return waited
    const { questions } = await ask<MissionNotes>('get_mission_notes', { mission_id: waited.mission.id })
    const question = questions.find(({ status }) => status === 'open')
    if (!question) return waited
    const seconds = Math.max(0, end - performance.now()) / 1000
    const [elsewhere, over] = [new AbortController(), new AbortController()]
    const waiting = { question_id: question.id, timeout_seconds: seconds }
    ask<QuestionView>('wait_for_question', waiting, over.signal).then(
      ({ status }) => status === 'open' || elsewhere.abort(),
      () => {},
    )
    const time = AbortSignal.timeout(Math.ceil(seconds * 1000))
    const filledIn = await elicit(formOf(waited.mission, question), AbortSignal.any([time, elsewhere.signal])).finally(
      () => over.abort(),
    )
    if (elsewhere.signal.aborted) continue
    if (!filledIn) return waited
    const { text, decision } = filledIn
    await ask('answer_question', { question_id: question.id, text, decision }).catch(error => {
      // Somebody else was first, and their answer stands.
      if (!(error instanceof NotAllowed)) throw error
    })
  }
}

/** The form has the fields of answer_question. */
function formOf({ title }: MissionView, { kind, tool, text }: QuestionView): Form {
  const words = { type: 'string', title: 'Your answer' }
  if (kind !== 'permission')
    return { message: `"${title}" asks: ${text}`, properties: { text: words }, required: ['text'] }
  return {
    message: `"${title}" wants to use ${tool}: ${text}`,
    properties: {
      decision: { type: 'string', title: 'Your decision', enum: ['allow', 'deny'] },
      text: { ...words, title: 'A note for the agent' },
    },
    required: ['decision'],
  }
}
