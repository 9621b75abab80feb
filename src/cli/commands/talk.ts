import type { Command } from 'commander'
import { InvalidInput } from '../../domain/errors.ts'
import { shortId } from '../../domain/ids.ts'
import { type Decision, decisionIn } from '../../domain/rules/decisions.ts'
import type { MissionView } from '../../operations/views.ts'
import { type Cli, does } from '../command.ts'
import { EXIT } from '../exit.ts'
import { titleOf } from '../show.ts'
import { linesOf } from '../show-permission.ts'

interface QuestionView {
  id: string
  mission_id: string
  kind: string
  tool: string | null
  text: string
  summary: string
  deadline: string | null
  covers: string | null
  answer: { decision: Decision } | null
}

export function addTalk(program: Command): void {
  const say = program
    .command('say')
    .description('say something to an agent at work')
    .argument('<mission>', 'its id, or the first letters of it')
    .argument('<text>', 'what to say')
  does(say, async (cli, [mission, text]) => {
    const said = await ask<{ heard: string }>(cli, 'say_to_mission', { mission_id: mission, text })
    if (cli.terminal.json) return void cli.terminal.data(said)
    cli.terminal.print(
      said.heard === 'mid-turn'
        ? 'It will hear this in the middle of what it does.'
        : 'It will hear this once it has finished what it does.',
    )
  })

  const interrupt = program
    .command('interrupt')
    .description('have an agent stop what it does and wait for what you say next')
    .argument('<mission>', 'its id, or the first letters of it')
  does(interrupt, async (cli, [mission]) => {
    const asked = await ask<QuestionView>(cli, 'interrupt_mission', { mission_id: mission })
    if (cli.terminal.json) return void cli.terminal.data(asked)
    cli.terminal.print('It stops and waits. Tell it how to go on:')
    cli.terminal.note(`  fleet answer ${shortId(asked.id)} "…"`)
  })

  does(
    program
      .command('inbox')
      .description('what waits for you: questions, plans, reviews, missions that cannot go on; and what failed lately'),
    showInbox,
  )

  const answer = program
    .command('answer')
    .description('answer an agent that waits; the first answer wins')
    .argument('<question>', 'the id of the question, or of the mission that asks')
    .argument('<answer>', 'allow or deny (or yes, no, y, n); or your words, where words are asked for')
    .argument('[note]', 'what to tell the agent with allow or deny')
    .option('--for-session', 'with allow: allow exactly the same again in this session')
    .option('--always', 'with allow: allow exactly the same again in this project')
  does(answer, async (cli, [asked, given = '', note], options) => {
    if (options.forSession && options.always) throw new InvalidInput('--always', 'does not go with --for-session')
    const remember = options.always ? 'project' : options.forSession ? 'session' : undefined
    const { id, kind } = await ask<QuestionView>(cli, 'get_question', { question_id: asked })
    // A question takes words, and "no" is one; about a permission, and how to go on, words for a decision decide.
    const decides = kind === 'permission' || (kind === 'interruption' && decisionIn(given) !== undefined)
    const said = decides ? { decision: given, text: note } : { text: [given, note].filter(Boolean).join(' ') }
    const answered = await ask<QuestionView>(cli, 'answer_question', { question_id: id, ...said, remember })
    if (cli.terminal.json) return void cli.terminal.data(answered)
    const word = decides ? { allow: 'Allowed', deny: 'Denied' }[answered.answer!.decision] : 'Answered'
    cli.terminal.print(`${word}. ${cli.terminal.foreign(answered.summary)}`)
    if (remember) cli.terminal.note(`From now on without asking: ${cli.terminal.foreign(answered.covers ?? '')}`)
  })
}

const ask = async <T>(cli: Cli, operation: string, input: object): Promise<T> =>
  (await cli.client()).call<T>(operation, input)

interface Inbox {
  questions: QuestionView[]
  missions: MissionView[]
  plans: { id: string; goal: string }[]
  failures: MissionView[]
  count: number
}

async function showInbox(cli: Cli): Promise<number | undefined> {
  const { terminal } = cli
  const inbox = await ask<Inbox>(cli, 'list_inbox', {})
  if (terminal.json) return void terminal.data(inbox)
  const titles = await titlesOf(cli, inbox.questions)
  for (const question of inbox.questions) {
    const asked = question.kind === 'permission' ? `It asks to use ${question.tool}` : question.summary
    terminal.print(`${terminal.paint('bold', shortId(question.id))}  ${terminal.foreign(asked)}`)
    if (question.kind === 'permission')
      for (const line of linesOf(question.text)) terminal.print(`  ${terminal.foreign(line)}`)
    const title = titles.get(question.mission_id)
    terminal.print(`  in mission ${shortId(question.mission_id)}${title ? ` “${terminal.foreign(title)}”` : ''}`)
    const rule = question.covers === null ? '' : ' [--for-session|--always]'
    const words = question.kind === 'permission' ? `allow|deny ["…"]${rule}` : '"…"'
    const until = question.deadline ? `   (until ${question.deadline})` : ''
    terminal.note(`  fleet answer ${shortId(question.id)} ${words}${until}`)
    if (question.covers !== null) terminal.note(`  A rule covers exactly: ${terminal.foreign(question.covers)}`)
  }
  for (const mission of inbox.missions) tellStanding(cli, mission)
  for (const { id, goal } of inbox.plans) {
    terminal.print(`${terminal.paint('bold', shortId(id))}  a plan: ${terminal.foreign(titleOf(goal))}`)
    terminal.note(`  fleet plan show ${shortId(id)}, then fleet plan approve ${shortId(id)}`)
  }
  const shown = inbox.questions.length + inbox.missions.length + inbox.plans.length
  if (inbox.count > shown) terminal.note(`and ${inbox.count - shown} more`)
  if (inbox.count === 0) terminal.print('Nothing waits for you.')
  if (inbox.failures.length) terminal.print(`\n${terminal.paint('dim', 'Failed lately')}`)
  for (const mission of inbox.failures) tellStanding(cli, mission)
  return inbox.count ? EXIT.person : undefined
}

/** What the missions that ask are called. */
async function titlesOf(cli: Cli, questions: readonly QuestionView[]): Promise<Map<string, string>> {
  const ids = [...new Set(questions.map(({ mission_id }) => mission_id))]
  if (!ids.length) return new Map()
  const { missions } = await ask<{ missions: MissionView[] }>(cli, 'list_missions', { ids, limit: ids.length })
  return new Map(missions.map(({ id, title }) => [id, title]))
}

function tellStanding({ terminal }: Cli, { id, title, status, status_reason }: MissionView): void {
  terminal.print(
    `${terminal.paint('bold', shortId(id))}  ${terminal.foreign(`${title}: ${status_reason?.text ?? status}`)}`,
  )
  if (status_reason?.try) terminal.note(`  ${status_reason.try}`)
}
