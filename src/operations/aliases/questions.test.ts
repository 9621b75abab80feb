import { expect, test } from 'vitest'
import { waitFor } from './questions.ts'

test.each(['accept', 'decline'] as const)(
  'once a form is filled in or declined, nobody waits for its question any more: %s',
  async how => {
    const waits: AbortSignal[] = []
    const answers: Record<string, unknown> = {
      wait_for_mission: { answer: 'needs_person', mission: { id: 'm1', title: 'it' } },
      get_mission_notes: { questions: [{ id: 'q1', status: 'open', kind: 'question', text: 'Which?' }] },
    }
    let isAnswered = false
    const ask = async <T>(name: string, _: object, signal?: AbortSignal): Promise<T> => {
      if (name === 'wait_for_question') {
        waits.push(signal!)
        return new Promise(() => {})
      }
      if (name === 'answer_question') isAnswered = true
      if (name === 'wait_for_mission' && isAnswered) return { answer: 'over', mission: { id: 'm1' } } as T
      return answers[name] as T
    }
    const filledIn = how === 'accept' ? { text: 'this' } : undefined
    const { answer } = await waitFor(ask, { mission_id: 'm1', timeout_seconds: 60 }, async () => filledIn)
    expect(answer).toBe(how === 'accept' ? 'over' : 'needs_person')
    expect(waits.map(({ aborted }) => aborted)).toEqual([true])
  },
)
