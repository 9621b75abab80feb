import { join } from 'node:path'
import { setImmediate as breath } from 'node:timers/promises'
import { type Agent, readForShow } from '../../agents/index.ts'
import type { NewEvent } from '../../domain/records/event.ts'
import type { Mission } from '../../domain/records/mission.ts'
import { type Plan, PlanAnswer, problemWith } from '../../domain/records/plan.ts'
import { answerIn } from '../../domain/rules/answers.ts'
import type { By } from '../../domain/rules/life.ts'
import { answerAgain } from '../../domain/rules/plan-prompt.ts'
import { clipped, MAX_REASON_CHARS, type StoredText } from '../../domain/text.ts'
import type { Change } from '../../store/index.ts'
import { START, TranscriptReader } from '../../transcripts/reader.ts'
import type { Fleet } from '../fleet.ts'
import { put } from '../records.ts'
import { RESULT_FILE } from '../sessions/launch.ts'
import { readResult } from '../watching.ts'
import { eventOf, objectionTo } from './plans.ts'

/** Of all that an agent says, the end is read: an answer is no longer than this. */
const MAX_SAID_CHARS = 2_000_000

type Proposal = Pick<Plan, 'status' | 'summary' | 'missions' | 'reason'>
export type Answer = { plan: Proposal } | { problem: string; instructions: StoredText }

/** The plan that a planner has answered with, checked; or what is wrong with it. */
export async function answerOf(fleet: Fleet, agent: Agent, planId: string, directory: string): Promise<Answer> {
  const plan = (await fleet.store.get('plans', planId))?.value
  const read = answered(await saidIn(agent, directory), readResult(join(directory, RESULT_FILE)))
  const problem =
    'problem' in read
      ? read.problem
      : problemWith(read.answer, {
          objection: objectionTo(fleet, plan?.scripts ?? false),
          mayBeComplete: plan?.loop_id != null,
        })
  if ('problem' in read || problem)
    return { problem: problem!, instructions: await fleet.blobs.keep(answerAgain(problem!)) }
  const { complete, reason, summary, missions } = read.answer
  return {
    plan: {
      status: complete ? 'complete' : 'proposed',
      summary,
      reason: complete ? clipped(reason, MAX_REASON_CHARS) : null,
      missions: complete ? null : await fleet.blobs.keep(JSON.stringify(missions)),
    },
  }
}

const isAnswer = (object: Record<string, unknown>): boolean =>
  Object.hasOwn(object, 'missions') || Object.hasOwn(object, 'complete')

/** From the file for reports if it was put there, otherwise from what was said. */
function answered(said: readonly string[], file: unknown): { answer: PlanAnswer } | { problem: string } {
  const found = answerIn([...said, JSON.stringify(file) ?? ''], isAnswer)
  if ('problem' in found) return found
  const { success, data, error } = PlanAnswer.safeParse(found.answer)
  if (success) return { answer: data }
  const { path, message } = error.issues[0]!
  return { problem: `${path.join('.') || 'It'}: ${message}.` }
}

/** What an agent said, message by message: words that no tool comes between belong together. */
async function saidIn(agent: Agent, directory: string): Promise<string[]> {
  const messages = ['']
  let chars = 0
  const add = (text: string) => {
    messages.push(messages.pop() + text)
    chars += text.length
    while (chars > MAX_SAID_CHARS && messages.length > 1) chars -= messages.shift()!.length
  }
  const reader = new TranscriptReader(directory, START)
  try {
    for (let lines = reader.read(true); lines.length; lines = reader.read(true)) {
      for (const event of lines.flatMap(line => readForShow(agent, line))) {
        if (event.type === 'text') add(event.piece ? event.text : `\n${event.text}`)
        else if (['result', 'tool_call', 'said'].includes(event.type)) messages.push('')
        if (event.type === 'result') add(event.text)
      }
      await breath()
    }
  } finally {
    reader.close()
  }
  return messages
}

/** What the end of a planner's session writes about its plan, unless someone has decided about that meanwhile. */
export async function proposed(
  fleet: Fleet,
  mission: Mission,
  proposal: Proposal,
  when: By,
): Promise<{ changes: Change[]; events: NewEvent[] } | null> {
  const plan = await fleet.store.get('plans', mission.planning!)
  if (!plan || !['done', 'review'].includes(mission.status) || !isWanted(plan.value)) return null
  const next: Plan = { ...plan.value, ...proposal, updated_at: when.now }
  return { changes: [put('plans', next, plan.version)], events: [eventOf(next, 'plan_proposed', when)] }
}

/** A person may have tried a failed planner again; a loop has gone on without it. */
const isWanted = ({ status, loop_id }: Plan): boolean =>
  status === 'planning' || (status === 'failed' && loop_id === null)
