import * as z from 'zod'
import { Forbidden } from '../domain/errors.ts'
import { MissionType } from '../domain/records/mission.ts'
import { Claim, PreviewUrl } from '../domain/records/report.ts'
import { isOver } from '../domain/rules/delegation.ts'
import { clipped } from '../domain/text.ts'
import { awaitable, awaitChildren, delegate, partsOf } from '../fleet/delegation/delegation.ts'
import { requireCodingAgent } from '../fleet/missions/agents.ts'
import { projectOf } from '../fleet/missions/missions.ts'
import { addNote, type NoteKind } from '../fleet/missions/notes.ts'
import { askHuman } from '../fleet/questions/ask-human.ts'
import { current } from '../fleet/records.ts'
import { submitReport } from '../fleet/sessions/inside.ts'
import { Brief, brief } from './briefs.ts'
import { ask } from './inputs.ts'
import { type Caller, type Context, command, type Query, query } from './operation.ts'

type Session = Extract<Caller, { kind: 'session' }>

type Inside<I extends z.ZodObject, O extends z.ZodType> = Omit<Query<I, O>, 'kind' | 'may' | 'agentMay' | 'run'> & {
  run(context: Context, input: z.infer<I>, session: Session): Promise<z.input<O>>
}

/** Operations that only a running agent can use: they are about its own session. */
function own<I extends z.ZodObject, O extends z.ZodType>({ run, ...rest }: Inside<I, O>): Omit<Query<I, O>, 'kind'> {
  return {
    ...rest,
    may: 'session.act',
    agentMay: () => true,
    run: (context, input) => {
      if (context.caller.kind !== 'session')
        throw new Forbidden('Only a running agent can use this: it needs the token of a session.', {
          try: 'Inside a session, the fleet command has the token; a person uses the other operations.',
        })
      return run(context, input, context.caller)
    },
  }
}
export const insideQuery = <I extends z.ZodObject, O extends z.ZodType>(definition: Inside<I, O>) =>
  query(own(definition))
const insideCommand = <I extends z.ZodObject, O extends z.ZodType>(definition: Inside<I, O>) => command(own(definition))

/** A text with one item per line, or a list. */
const Lines = z.union([z.string().max(20_000), z.array(z.string().max(4000)).max(100)])
const listed = (said: z.infer<typeof Lines>): string[] =>
  [said]
    .flat()
    .flatMap(text => text.split('\n'))
    .filter(line => line.trim())
    .slice(0, LINES)
    .map(line => clipped(line, LINE_CHARS))
const LINES = 100
const LINE_CHARS = 4000
const TITLE_CHARS = 120
const SUMMARY_CHARS = 4000

export const selfService = [
  insideCommand({
    name: 'submit_report',
    mcp: 'inside',
    summary:
      'Report what you did before you end. The report is saved at once; a second report replaces the first. Git says which files changed',
    http: 'POST /api/agent/report',
    input: z.object({
      files_changed: Lines,
      what_done: Lines,
      what_open: Lines,
      what_tested: Lines,
      what_untested: Lines,
      next_steps: Lines,
      errors_encountered: Lines,
      preview_url: PreviewUrl.nullish().describe('where the result can be seen'),
      summary: z.string().max(20_000).optional().describe('a few sentences; default: what_done'),
      status: Claim.shape.status.describe(
        'completed_no_changes: nothing had to change; blocked: a person must decide something first',
      ),
    }),
    output: z.object({ message: z.string() }),
    run: async (context, { files_changed, summary, status, preview_url = null, ...lists }, { session_id }) => {
      const claim = Claim.parse({
        ...Object.fromEntries(Object.entries(lists).map(([name, said]) => [name, listed(said)])),
        ...{ status, preview_url, files_claimed: listed(files_changed) },
        summary: summary ?? clipped(listed(lists.what_done).join('\n'), SUMMARY_CHARS),
      })
      await submitReport(context.fleet, ask(context, 'submit_report'), session_id, claim)
      return { message: 'Your report is saved. End your turn when nothing is left to do.' }
    },
  }),
  insideCommand({
    name: 'create_sub_mission',
    mcp: 'inside',
    summary:
      'Give a part of your work to another agent. It starts at once, in its own worktree, unless you let it wait for you',
    http: 'POST /api/agent/sub-missions',
    needsFleet: true,
    input: z.object({
      title: z.string().min(1).max(300),
      detailed_prompt: z
        .string()
        .min(1)
        .max(1_000_000)
        .describe('everything it needs to know: it does not see your conversation'),
      acceptance_criteria: z.string().max(20_000).optional(),
      mission_type: MissionType.optional(),
      priority: z
        .number()
        .int()
        .min(-1000)
        .max(1000)
        .optional()
        .describe('higher starts first; default: your priority'),
      wait_for_me: z.boolean().default(false).describe('start it only when your own mission is done'),
      agent: z
        .string()
        .min(1)
        .max(40)
        .optional()
        .describe('default: your agent; shell: detailed_prompt is a script, run within your own limits'),
      model: z.string().min(1).max(120).optional(),
      from: z
        .enum(['base', 'me'])
        .default('base')
        .describe(
          'me: start from your files as they are now, committed or not; the work then stays on a branch for you to merge. base: the work lands on the base branch automatically',
        ),
      max_budget_usd: z
        .number()
        .positive()
        .max(100_000)
        .optional()
        .describe('taken from your own budget; default: half of what is left'),
    }),
    output: Brief,
    run: async (context, input, { session_id }) =>
      brief(context.fleet, await delegate(context.fleet, ask(context, 'create_sub_mission'), session_id, input)),
  }),
  insideCommand({
    name: 'request_review',
    mcp: 'inside',
    summary: 'Ask another agent to review your work as it is now; it changes nothing and reports what it found',
    http: 'POST /api/agent/reviews',
    needsFleet: true,
    input: z.object({
      description: z.string().min(1).max(100_000).describe('what you did and what to look for'),
      files_to_review: Lines.optional().describe('default: everything you changed'),
    }),
    output: Brief,
    run: async (context, { description, files_to_review = [] }, { session_id }) => {
      const { fleet } = context
      const { value: session } = await current(fleet, 'sessions', session_id)
      const { value: mission } = await current(fleet, 'missions', session.mission_id)
      const files = [files_to_review].flat().join('\n')
      const since = session.start_commit ? `\n\nWhat changed: git diff ${session.start_commit}` : ''
      const asksItself = !fleet.agents.ofSession(session.agent).can.scripts
      const agent = asksItself ? session.agent : await requireCodingAgent(fleet, await projectOf(fleet, mission.id))
      const holds = fleet.agents.ofSession(agent).can.presets.includes('review')
      const review = await delegate(fleet, ask(context, 'request_review'), session_id, {
        title: `Review: ${clipped(description.split('\n', 1)[0]!, TITLE_CHARS)}`,
        detailed_prompt: `Review this work and say what is wrong with it. Change nothing.\n\n${description}${files && `\n\nFiles:\n${files}`}${since}`,
        mission_type: 'review',
        agent,
        tool_preset: holds && !mission.tool_preset ? 'review' : mission.tool_preset,
        wait_for_me: false,
        from: session.worktree ? 'me' : 'base',
      })
      return brief(fleet, review)
    },
  }),
  insideQuery({
    name: 'get_sub_mission_status',
    mcp: 'inside',
    summary: 'The status of your sub-missions, and the reports of those that are over',
    http: 'GET /api/agent/sub-missions',
    input: z.object({}),
    output: z.object({ sub_missions: z.array(Brief) }),
    run: async ({ fleet }, _, { mission_id: id, project_id }) => ({
      sub_missions: await Promise.all((await partsOf(fleet, { id, project_id })).map(child => brief(fleet, child))),
    }),
  }),
  insideCommand({
    name: 'wait_for_sub_missions',
    mcp: 'inside',
    summary:
      'Wait for your sub-missions. If the answer says so, end your turn: you are resumed with their reports when all are done or one needs you',
    http: 'POST /api/agent/wait',
    input: z.object({}),
    output: z.object({
      waiting: z.boolean(),
      message: z.string(),
      sub_missions: z.array(Brief),
    }),
    run: async (context, _, { session_id, mission_id: id, project_id }) => {
      const { fleet } = context
      const awaits = await awaitChildren(fleet, ask(context, 'wait_for_sub_missions'), session_id)
      const children = awaitable(id, await partsOf(fleet, { id, project_id }))
      return {
        waiting: awaits.length > 0,
        message: awaits.length
          ? 'End your turn now. You will be resumed with the reports of your sub-missions.'
          : children.every(isOver)
            ? 'All your sub-missions are over. Continue.'
            : 'One of your sub-missions needs somebody. Continue without it, or call this again to wait until it is over.',
        sub_missions: await Promise.all(children.map(child => brief(fleet, child))),
      }
    },
  }),
  insideCommand({
    name: 'ask_human',
    mcp: 'inside',
    summary: 'Ask the person in charge. Returns within 20 seconds: their answer, or that it is pending',
    http: 'POST /api/agent/questions',
    input: z.object({
      question: z.string().min(1).max(20_000),
      wait_seconds: z.number().int().min(0).max(18).default(18).describe('how long to wait for the answer'),
    }),
    output: z.object({
      status: z.enum(['answered', 'pending']),
      answer: z.string().nullable(),
      message: z.string(),
    }),
    run: async ({ fleet, signal }, { question, wait_seconds }, { session_id }) => {
      const answer = await askHuman(fleet, session_id, question, { seconds: wait_seconds, signal })
      const message =
        answer === null ? 'pending: end your turn, you will be resumed with the answer' : 'A person has answered.'
      return { status: answer === null ? ('pending' as const) : ('answered' as const), answer, message }
    },
  }),
  insideCommand({
    name: 'note',
    mcp: 'inside',
    summary: 'Write down what the next session of this mission must know: the plan, or something you learned',
    http: 'POST /api/agent/notes',
    input: z.object({
      text: z.string().min(1).max(20_000),
      kind: z.enum(['plan', 'knowledge'] satisfies NoteKind[]).default('knowledge'),
    }),
    output: z.object({ file: z.string() }),
    run: async (context, { text, kind }, { mission_id }) => ({
      file: await addNote(context.fleet, mission_id, kind, text, ask(context, 'note')),
    }),
  }),
]
