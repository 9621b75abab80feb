import type { AgentEvent } from '../../agents/index.ts'
import { InvalidInput, NotAllowed } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { ApprovalRule, RuleScope } from '../../domain/records/approval-rule.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Session } from '../../domain/records/session.ts'
import type { Question } from '../../domain/records/talk.ts'
import { answerInWords, answerTo, type Spoken } from '../../domain/rules/decisions.ts'
import * as life from '../../domain/rules/life.ts'
import { named } from '../../domain/rules/named.ts'
import { wishInWords } from '../../domain/rules/tool-words.ts'
import { clipped, headOf, type StoredText } from '../../domain/text.ts'
import type { Change, Stored } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import { type Fleet, retryOnConflict, retryUntilKnown } from '../fleet.ts'
import { asTheyAre, current, derivedId, inOrder, put } from '../records.ts'
import { requireNoTerminal } from '../teams/sessions.ts'
import { coveredBy, newRule, ruleFor } from './approvals.ts'
import { messageTo } from './messages.ts'

type AgentRequest = Extract<AgentEvent, { type: 'permission' | 'question' }>

const TEXT_CHARS = 500

/**
 * Writes down what an agent asks, and that its mission waits for a person. The same line read again asks nothing new.
 */
export async function raiseQuestion(
  fleet: Fleet,
  session: Session,
  request: AgentRequest,
  through: Question['through'] = 'client',
): Promise<void> {
  const id = questionId(session.id, request.id)
  const tool = request.type === 'permission' ? clipped(request.tool, 200) : null
  const covers = request.type === 'permission' ? coveredBy(session, request.tool, request.input) : null
  const text = await fleet.blobs.keep(
    request.type === 'question' ? request.text : JSON.stringify(request.input, null, 2),
  )
  await retryUntilKnown(async () => {
    if (await fleet.store.get('questions', id)) return
    const mission = await current(fleet, 'missions', session.mission_id)
    // Read after the mission, which the end of a session changes too, so that a session that has ended asks nothing.
    if ((await current(fleet, 'sessions', session.id)).value.status === 'ended')
      throw new NotAllowed(`Session ${session.id} has ended.`)
    const when = { actor: `session:${session.id}`, now: fleet.now() }
    const { answer_within_seconds, otherwise } = mission.value
    const question: Question = {
      ...asked(session, text, when.now),
      id,
      kind: request.type,
      asked_as: request.id,
      through,
      tool,
      covers,
      deadline: answer_within_seconds
        ? new Date(Date.parse(when.now) + answer_within_seconds * 1000).toISOString()
        : null,
      otherwise: answer_within_seconds ? (otherwise ?? 'deny') : null,
    }
    const rule = tool === null ? undefined : await ruleFor(fleet, session, tool, covers)
    if (rule) return allowByRule(fleet, mission.value, question, rule)
    const step = life.asks(mission.value, { id, text: sentenceOf(question) }, when)
    await fleet.commit('commit.question', {
      changes: [put('questions', question, 'absent'), put('missions', withQuestion(step.mission, id), mission.version)],
      events: step.events,
    })
  })
}

/** A rule allows this already. The question is noted with its answer, and its mission goes on. */
async function allowByRule(fleet: Fleet, mission: Mission, asked: Question, rule: Stored<ApprovalRule>): Promise<void> {
  const by = `rule:${rule.value.id}`
  const question: Question = {
    ...asked,
    status: 'answered',
    answer: { decision: 'allow', text: null },
    answered_by: by,
    answered_at: asked.created_at,
  }
  const data = { question: question.id, rule: rule.value.id, tool: question.tool }
  const told = life.about(
    mission,
    'allowed_by_rule',
    { actor: by, now: asked.created_at },
    { session_id: asked.session_id, data },
  )
  await fleet.commit('commit.question', {
    changes: [
      put('questions', question, 'absent'),
      // If the rule was revoked at the same time, the commit fails.
      put('approval_rules', { ...rule.value, uses: rule.value.uses + 1, last_used_at: asked.created_at }, rule.version),
    ],
    events: [told],
  })
}

const asked = (session: Session, text: StoredText, now: string) => ({
  mission_id: session.mission_id,
  project_id: session.project_id,
  session_id: session.id,
  text,
  covers: null,
  status: 'open' as const,
  through: 'client' as const,
  answer: null,
  answered_by: null,
  delivered: false,
  created_at: now,
  answered_at: null,
})

/** Makes an agent stop and wait. What it should do next is asked as a question, and it waits as for any answer. */
export async function interruptMission(fleet: Fleet, ask: Ask, missionId: string): Promise<Stored<Question>> {
  const text = await fleet.blobs.keep('You interrupted it. What should it do now?')
  const id = await oncePerKey(fleet, ask, async () => {
    const mission = await current(fleet, 'missions', missionId)
    const session = await interruptible(fleet, mission.value)
    const { question, ...batch } = interruption(mission, session, text, by(fleet, ask))
    return { subject: question.id, ...batch }
  })
  return current(fleet, 'questions', id)
}

/** `until`: it goes on at this time, unless somebody has said before what it is to do. */
export function interruption(
  mission: Stored<Mission>,
  session: Session,
  text: Question['text'],
  when: life.By,
  until: string | null = null,
) {
  const id = newId()
  const question: Question = {
    ...asked(session, text, when.now),
    ...{ id, kind: 'interruption', asked_as: id, tool: null, deadline: until, otherwise: until ? 'allow' : null },
  }
  const step = life.asks(mission.value, { id, text: sentenceOf(question) }, when)
  const told = life.about(mission.value, 'interrupt_requested', when, { session_id: session.id })
  const changes: Change[] = [
    put('questions', question, 'absent'),
    put('missions', withQuestion(step.mission, id), mission.version),
  ]
  return { question, changes, events: [told, ...step.events] }
}

async function interruptible(fleet: Fleet, { id, session_id, asking }: Mission): Promise<Session> {
  const session = session_id ? await fleet.store.get('sessions', session_id) : undefined
  if (!session || session.value.status === 'ended')
    throw new NotAllowed(`No agent is at work on mission ${id}.`, { try: `fleet mission resume ${id} --message "…"` })
  if (session.value.reason === 'takeover')
    throw new NotAllowed(`A person has taken over mission ${id}, so only they can interrupt it.`)
  requireNoTerminal(session.value)
  const { title, can } = fleet.agents.ofSession(session.value.agent)
  if (!can.interrupt)
    throw new NotAllowed(`${title} cannot be interrupted without ending its session.`, {
      try: `fleet cancel ${id} ends it and keeps its work; fleet mission resume ${id} continues from there.`,
    })
  if (asking)
    throw new NotAllowed(`Mission ${id} does nothing now: it waits for an answer.`, { try: `fleet answer ${id} …` })
  return session.value
}

export const questionId = (sessionId: string, askedAs: string): string => derivedId('question', sessionId, askedAs)

export function sentenceOf(question: Question): string {
  const text = headOf(question.text)
  const words = question.kind === 'permission' ? wishInWords(question.tool, text) : text
  return clipped(words.replace(/\s+/g, ' '), TEXT_CHARS)
}

export interface Given extends Spoken {
  /** A rule for the same request is made with this scope. */
  remember?: RuleScope
}

/** The first answer wins. A later one is refused, and says what was answered and by whom. */
export async function answerQuestion(
  fleet: Fleet,
  ask: Ask,
  find: () => Promise<string>,
  given: Given,
): Promise<Stored<Question>> {
  const answered = await oncePerKey(fleet, ask, async () => {
    const question = await current(fleet, 'questions', await find())
    requireOpen(question.value)
    const answer = answerTo(question.value, given)
    const when = by(fleet, ask)
    const mission = await current(fleet, 'missions', question.value.mission_id)
    const next: Question = {
      ...question.value,
      status: 'answered',
      answer,
      answered_by: ask.actor,
      answered_at: when.now,
    }
    const others = (await unsettledQuestions(fleet, mission.value)).filter(({ value }) => value.id !== next.id)
    const { heard, ...step } = await after(fleet, mission.value, { ...question, value: next }, others, when)
    requireRule(next, given.remember)
    const rule = given.remember ? await newRule(fleet, next, given.remember, when) : { changes: [], events: [] }
    const changes: Change[] = [
      ...(heard.length ? [] : [put('questions', next, question.version)]),
      ...heard.map(({ value, version }) => put('questions', { ...value, delivered: true }, version)),
      put('missions', step.mission, mission.version),
    ]
    return { subject: next.id, changes: [...changes, ...rule.changes], events: [...step.events, ...rule.events] }
  })
  return current(fleet, 'questions', answered)
}

function requireOpen(question: Question): void {
  const { status, answer, answered_by } = question
  if (status === 'withdrawn')
    throw new NotAllowed('The session ended, so this question is no longer open.', { facts: { status } })
  if (status === 'answered') {
    throw new NotAllowed(`It was already answered by ${answered_by}: ${clipped(answerInWords(question), 200)}`, {
      facts: { status, answer, answered_by },
    })
  }
}

function requireRule({ kind, covers, answer }: Question, scope: RuleScope | undefined): void {
  if (!scope) return
  if (kind !== 'permission' || answer?.decision !== 'allow')
    throw new InvalidInput('remember', 'only a permission that is allowed can be remembered')
  if (covers === null)
    throw new InvalidInput('remember', 'no rule can describe this request exactly; it can be allowed once')
}

/** More at once would not fit into one commit. */
const MOST_HEARD = 20

/**
 * A live session gets the answer. A parked one is resumed once nothing is open: with this answer, and with those that
 * were given since it ended (`heard`).
 */
async function after(
  fleet: Fleet,
  mission: Mission,
  answered: Stored<Question>,
  others: readonly Stored<Question>[],
  when: life.By,
): Promise<life.Step & { heard: Stored<Question>[] }> {
  const { id } = answered.value
  const open = others.find(({ value }) => value.status === 'open')?.value
  if (open) return { ...life.asks(mission, { id: open.id, text: sentenceOf(open) }, when, mission.asking), heard: [] }
  if (mission.asking) return { ...life.goesOn(mission, id, when), heard: [] }
  if (mission.status !== 'needs_input')
    return { mission, events: [life.about(mission, 'answered', when, { data: { question: id } })], heard: [] }
  const heard = [...inOrder(others.filter(({ value }) => value.status === 'answered')).slice(-MOST_HEARD), answered]
  const words = heard.map(({ value }) => inWords(value)).join('\n\n')
  return { ...life.resume(mission, true, await fleet.blobs.keep(words), when), heard }
}

/** The answer for an agent that asked in an earlier session and is resumed. */
export function inWords(question: Question): string {
  const { kind, tool, text, answer } = question
  if (kind === 'interruption') return `You were interrupted. ${wordsAfter(question)}`
  const said = answer?.text ? ` They said: ${answer.text}` : ''
  if (kind === 'question')
    return `You asked: ${clipped(headOf(text), TEXT_CHARS)}\n\nThe person in charge answers.${said || ` They say ${answer?.decision === 'allow' ? 'yes' : 'no'}.`}`
  return `You asked to use ${tool}. The person in charge ${answer?.decision === 'allow' ? 'allows it: do it now' : 'does not allow it: find another way'}.${said}`
}

/** The words for an agent that was interrupted. */
export function wordsAfter({ answer }: Question): string {
  return answer?.text ?? (answer?.decision === 'deny' ? 'Leave it at that, and end your turn.' : 'Go on.')
}

const withQuestion = (mission: Mission, id: string): Mission => ({
  ...mission,
  questions: named(mission.questions, id),
})

/** Whether nothing about it changes any more. */
const isOver = ({ status, delivered }: Question): boolean =>
  status === 'withdrawn' || (status === 'answered' && delivered)

export async function openQuestions(fleet: Fleet, mission: Mission): Promise<Question[]> {
  const found = await unsettledQuestions(fleet, mission)
  return found.map(({ value }) => value).filter(({ status }) => status === 'open')
}

/** Open ones, and those with an answer that no agent has heard. */
async function unsettledQuestions(fleet: Fleet, mission: Mission): Promise<Stored<Question>[]> {
  const index = { index: 'mission', equals: [mission.id] }
  const found = await asTheyAre(fleet, 'questions', index, mission.questions, isOver)
  return found.filter(({ value }) => !isOver(value))
}

/** What was asked in a session, as it is now, oldest first. */
export async function questionsOf(fleet: Fleet, session: Session, mission: Mission): Promise<Stored<Question>[]> {
  const found = await asTheyAre(
    fleet,
    'questions',
    { index: 'session', equals: [session.id] },
    mission.questions,
    isOver,
  )
  return inOrder(found.filter(({ value }) => value.session_id === session.id))
}

/** The answer has reached the client. Words that could not go with it follow as a message. */
export async function markDelivered(fleet: Fleet, id: string, words: string | null = null): Promise<void> {
  const text = words === null ? null : await fleet.blobs.keep(words)
  await retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'questions', id)
    if (value.delivered) return
    const session = await current(fleet, 'sessions', value.session_id)
    const isHeard = text !== null && session.value.status !== 'ended'
    const when = { actor: value.answered_by ?? 'fleet', now: fleet.now() }
    const said = isHeard ? messageTo(session, derivedId('note', id), text, when) : null
    await fleet.commit('commit.answer-delivered', {
      changes: [
        put('questions', { ...value, delivered: true }, version),
        ...(said ? [said.message, put('sessions', said.session, session.version)] : []),
      ],
      events: said ? [said.event] : [],
    })
  })
}
