import * as z from 'zod'
import { Ambiguous, NotFound } from '../domain/errors.ts'
import { coverage, RuleScope } from '../domain/records/approval-rule.ts'
import { MAX_ANSWER_CHARS, Question } from '../domain/records/talk.ts'
import { Images } from '../domain/records/told.ts'
import { HOW_TO_DECIDE } from '../domain/rules/decisions.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { countOf, waitingForPerson } from '../fleet/missions/waiting.ts'
import { sayToMission } from '../fleet/questions/messages.ts'
import { answerQuestion, interruptMission, openQuestions, sentenceOf } from '../fleet/questions/questions.ts'
import { current, lookUp } from '../fleet/records.ts'
import { untilSeen } from '../fleet/watching.ts'
import { requireDecider, requireRuleMaker } from './approvals.ts'
import { actorOf, ask, Paging, Ref } from './inputs.ts'
import { MailView, mailView } from './mail-view.ts'
import { command, query } from './operation.ts'
import { PlanSummary, planSummary } from './plans.ts'
import { MissionView, missionViews } from './views.ts'

export const QuestionView = Question.omit({ text: true, asked_as: true, delivered: true, covers: true }).extend({
  text: z.string().describe('the question, or the whole input of the tool'),
  summary: z.string().describe('one sentence'),
  covers: z
    .string()
    .nullable()
    .describe('what exactly a rule from this question would allow; empty: no rule is possible'),
})
export type QuestionView = z.infer<typeof QuestionView>

export async function questionView(fleet: Fleet, question: Question): Promise<QuestionView> {
  const { text, asked_as, delivered, covers, ...shown } = question
  return {
    ...shown,
    text: await fleet.blobs.read(text),
    summary: sentenceOf(question),
    covers: covers === null ? null : coverage(shown.tool ?? '', covers),
  }
}

const ofMission = (id: string) => ({ index: 'mission', equals: [id], newestFirst: true })

/** Finds a question by its id, or by a mission with exactly one open question. */
async function findQuestion(fleet: Fleet, ref: string): Promise<Question> {
  const mission = await lookUp(fleet, 'missions', ref).catch(error => {
    if (error instanceof NotFound) return undefined
    throw error
  })
  if (!mission) return (await lookUp(fleet, 'questions', ref)).value
  const open = await openQuestions(fleet, mission.value)
  if (open.length > 1)
    throw new Ambiguous(
      'question',
      ref,
      open.map(({ id }) => ({ id })),
    )
  if (open[0]) return open[0]
  // If the question is already answered, the caller is told who answered it.
  const [last] = (await fleet.store.find('questions', { ...ofMission(mission.value.id), limit: 1 })).items
  if (last?.value.status === 'answered') return last.value
  throw new NotFound('open question of mission', mission.value.id, { try: 'fleet inbox' })
}

export const talk = [
  command({
    name: 'say_to_mission',
    may: 'messages.send',
    mcp: 'talk',
    summary: 'Send a message to a running agent',
    http: 'POST /api/missions/:mission_id/say',
    needsFleet: true,
    input: z.object({
      mission_id: Ref,
      text: z.string().min(1).max(200_000),
      images: Images.default([]).describe('what the agent is shown with the text; see add_image'),
    }),
    output: z.object({
      message_id: z.string(),
      session_id: z.string(),
      heard: z.enum(['mid-turn', 'next-turn']).describe('in the middle of the current step, or once it is finished'),
    }),
    run: async (context, { mission_id, text, images }) => {
      const { fleet } = context
      const { value } = await lookUp(fleet, 'missions', mission_id)
      const { message, heard } = await sayToMission(fleet, ask(context, 'say_to_mission'), value.id, text, images)
      return { message_id: message.id, session_id: message.session_id, heard }
    },
  }),
  command({
    name: 'interrupt_mission',
    may: 'messages.send',
    mcp: 'talk',
    summary: 'Interrupt an agent: it stops and waits for your answer, which is the next thing it is told',
    http: 'POST /api/missions/:mission_id/interrupt',
    needsFleet: true,
    input: z.object({ mission_id: Ref }),
    output: QuestionView,
    run: async (context, { mission_id }) => {
      const { value } = await lookUp(context.fleet, 'missions', mission_id)
      const asked = await interruptMission(context.fleet, ask(context, 'interrupt_mission'), value.id)
      return questionView(context.fleet, asked.value)
    },
  }),
  query({
    name: 'list_inbox',
    may: 'missions.read',
    mcp: 'talk',
    summary:
      'List what waits for a person: questions of agents, plans to decide, work to review, stuck missions, mail to you; and recent failures',
    http: 'GET /api/inbox',
    input: z.object({ limit: Paging.limit }),
    output: z.object({
      questions: z.array(QuestionView),
      missions: z.array(MissionView),
      plans: z.array(PlanSummary),
      mail: z
        .array(MailView.extend({ team: z.string().describe('its name') }))
        .describe('messages of teams: to you and not yet read or answered, or held back until a person releases them'),
      failures: z.array(MissionView).describe('recent failures, newest first; they are not counted'),
      count: z.number().int().describe('everything that waits, also beyond the limit'),
    }),
    run: async (context, { limit }) => {
      const { fleet } = context
      const waiting = await waitingForPerson(fleet, actorOf(context))
      const { questions, missions, plans, mail, failures } = waiting
      return {
        questions: await Promise.all(questions.slice(0, limit).map(question => questionView(fleet, question))),
        missions: await missionViews(fleet, missions.slice(0, limit)),
        plans: plans.slice(0, limit).map(planSummary),
        mail: await Promise.all(
          mail.slice(0, limit).map(async ({ team, delivery }) => {
            const { value } = await current(fleet, 'mail', delivery.mail_id)
            return { ...(await mailView(fleet, value, [delivery])), team }
          }),
        ),
        failures: await missionViews(fleet, failures.slice(0, limit)),
        count: countOf(waiting),
      }
    },
  }),
  query({
    name: 'get_question',
    may: 'missions.read',
    mcp: 'talk',
    summary: "Show an agent's question with its full text or the whole input of the tool",
    http: 'GET /api/questions/:question_id',
    input: z.object({ question_id: Ref.describe('the id of the question, or of a mission with one open question') }),
    output: QuestionView,
    run: async ({ fleet }, { question_id }) => questionView(fleet, await findQuestion(fleet, question_id)),
  }),
  query({
    name: 'wait_for_question',
    may: 'missions.read',
    mcp: { set: 'talk', long: true },
    summary: 'Wait until a question is answered or withdrawn, up to a number of seconds',
    http: 'GET /api/questions/:question_id/wait',
    input: z.object({
      question_id: Ref.describe('the id of the question, or of a mission with one open question'),
      timeout_seconds: z.number().min(0).max(3600).default(45).describe('some clients end a call after 60 seconds'),
    }),
    output: QuestionView.describe('its status is open if the time was up first'),
    run: async ({ fleet, signal }, { question_id, timeout_seconds }) => {
      const { id } = await findQuestion(fleet, question_id)
      const look = async () => {
        const { value } = await current(fleet, 'questions', id)
        return value.status === 'open' ? undefined : value
      }
      const closed = await untilSeen(fleet.store, look, { ms: timeout_seconds * 1000, signal })
      return questionView(fleet, closed ?? (await current(fleet, 'questions', id)).value)
    },
  }),
  command({
    name: 'answer_question',
    may: 'questions.answer',
    mcp: 'talk',
    summary: 'Answer a waiting agent; the first answer wins',
    http: 'POST /api/questions/:question_id/answer',
    needsFleet: true,
    input: z.object({
      question_id: Ref.describe('the id of the question, or of a mission with one open question'),
      decision: z
        .string()
        .max(MAX_ANSWER_CHARS)
        .optional()
        .describe(`${HOW_TO_DECIDE}. Required for a permission, which has no other answer`),
      text: z
        .string()
        .max(MAX_ANSWER_CHARS)
        .optional()
        .describe('the answer to a question; with a decision, a note for the agent'),
      remember: RuleScope.optional().describe(
        'with allow: allow exactly the same again without asking, in this session or in the whole project',
      ),
      account: z.string().max(200).optional().describe('for plugins: who decides, as "deciders" of its settings says'),
    }),
    output: QuestionView,
    run: async (context, { question_id, decision, text, remember, account }) => {
      const { fleet } = context
      if (remember) requireRuleMaker(context.caller)
      const find = async () => {
        const question = await findQuestion(fleet, question_id)
        if (question.kind === 'permission') await requireDecider(context, question.project_id, account)
        return question.id
      }
      const answered = await answerQuestion(fleet, ask(context, 'answer_question'), find, {
        decision,
        text,
        remember,
      })
      return questionView(context.fleet, answered.value)
    },
  }),
]
