import { setImmediate as breath } from 'node:timers/promises'
import { type Agent, readForShow } from '../../agents/index.ts'
import type { NewEvent } from '../../domain/records/event.ts'
import type { Mission } from '../../domain/records/mission.ts'
import { type Plan, PlanAnswer, problemWith } from '../../domain/records/plan.ts'
import { answerIn } from '../../domain/rules/answers.ts'
import type { By } from '../../domain/rules/life.ts'
import { answerAgain } from '../../domain/rules/plan-prompt.ts'
import { clipped, MAX_REASON_CHARS, type StoredText } from '../../domain/text.ts'
import { fileOf } from '../../platform/launch-folder.ts'
import type { Change } from '../../store/index.ts'
import { localTranscript, START } from '../../transcripts/index.ts'
import type { Fleet } from '../fleet.ts'
import { put } from '../records.ts'
import { readResult } from '../sessions/results.ts'
import { eventOf, objectionTo } from './plans.ts'

/** Only the end of what an agent said is read. An answer is never longer than this. */
const MAX_SAID_CHARS = 2_000_000

type Proposal = Pick<Plan, 'status' | 'summary' | 'missions' | 'reason'>
export type Answer = { plan: Proposal } | { problem: string; instructions: StoredText }

/** Reads and checks the plan that a planner answered, or says what is wrong with it. */
export async function answerOf(fleet: Fleet, agent: Agent, planId: string, directory: string): Promise<Answer> {
  const plan = (await fleet.store.get('plans', planId))?.value
  const read = answered(await saidIn(agent, directory), readResult(fileOf(directory, 'result')))
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

/** Reads the answer from the report file, or else from what the agent said. */
function answered(said: readonly string[], file: unknown): { answer: PlanAnswer } | { problem: string } {
  const found = answerIn([...said, JSON.stringify(file) ?? ''], isAnswer)
  if ('problem' in found) return found
  const { success, data, error } = PlanAnswer.safeParse(found.answer)
  if (success) return { answer: data }
  const { path, message } = error.issues[0]!
  return { problem: `${path.join('.') || 'It'}: ${message}.` }
}

/** What an agent said, message by message. Text without a tool call in between belongs together. */
async function saidIn(agent: Agent, directory: string): Promise<string[]> {
  const messages = ['']
  let chars = 0
  const add = (text: string) => {
    messages.push(messages.pop() + text)
    chars += text.length
    while (chars > MAX_SAID_CHARS && messages.length > 1) chars -= messages.shift()!.length
  }
  for await (const lines of localTranscript(directory).read(START, true)) {
    for (const event of lines.flatMap(line => readForShow(agent, line))) {
      if (event.type === 'text') add(event.piece ? event.text : `\n${event.text}`)
      else if (['result', 'tool_call', 'said'].includes(event.type)) messages.push('')
      if (event.type === 'result') add(event.text)
    }
    await breath()
  }
  return messages
}

/** What the end of a planner's session changes about its plan, unless somebody has already decided about the plan. */
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

/**
 * Whether the answer of a planner still counts. A person may retry a failed planner, but a loop has gone on without it.
 */
const isWanted = ({ status, loop_id }: Plan): boolean =>
  status === 'planning' || (status === 'failed' && loop_id === null)
