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
    .description('send a message to an agent at work')
    .argument('<mission>', 'id or first letters')
    .argument('<text>', 'message to send')
  does(say, async (cli, [mission, text]) => {
    const said = await cli.ask<{ heard: string }>('say_to_mission', { mission_id: mission, text })
    if (cli.terminal.json) return void cli.terminal.data(said)
    cli.terminal.print(
      said.heard === 'mid-turn'
        ? 'The agent gets this message while it works.'
        : 'The agent gets this message once it has finished its turn.',
    )
  })

  const interrupt = program
    .command('interrupt')
    .description('interrupt an agent; it waits for your next message')
    .argument('<mission>', 'id or first letters')
  does(interrupt, async (cli, [mission]) => {
    const asked = await cli.ask<QuestionView>('interrupt_mission', { mission_id: mission })
    if (cli.terminal.json) return void cli.terminal.data(asked)
    cli.terminal.print('The agent stops and waits. Tell it how to continue:')
    cli.terminal.note(`  fleet answer ${shortId(asked.id)} "…"`)
  })

  does(
    program
      .command('inbox')
      .description('list what waits for you: questions, plans, reviews, blocked missions, recent failures'),
    showInbox,
  )

  const answer = program
    .command('answer')
    .description('answer a question of an agent; the first answer counts')
    .argument('<question>', 'id of the question, or of its mission')
    .argument('<answer>', 'allow or deny (also yes, no, y, n), or a text answer')
    .argument('[note]', 'note for the agent with allow or deny')
    .option('--for-session', 'with allow: always allow exactly this in this session')
    .option('--always', 'with allow: always allow exactly this in this project')
  does(answer, async (cli, [asked, given = '', note], options) => {
    if (options.forSession && options.always)
      throw new InvalidInput('--always', 'cannot be combined with --for-session')
    const remember = options.always ? 'project' : options.forSession ? 'session' : undefined
    const { id, kind } = await cli.ask<QuestionView>('get_question', { question_id: asked })
    // A question takes any words, including "no". About a permission or an interruption, such words decide.
    const decides = kind === 'permission' || (kind === 'interruption' && decisionIn(given) !== undefined)
    const said = decides ? { decision: given, text: note } : { text: [given, note].filter(Boolean).join(' ') }
    const answered = await cli.ask<QuestionView>('answer_question', { question_id: id, ...said, remember })
    if (cli.terminal.json) return void cli.terminal.data(answered)
    const word = decides ? { allow: 'Allowed', deny: 'Denied' }[answered.answer!.decision] : 'Answered'
    cli.terminal.print(`${word}. ${cli.terminal.foreign(answered.summary)}`)
    if (remember) cli.terminal.note(`Allowed from now on: ${cli.terminal.foreign(answered.covers ?? '')}`)
  })
}

interface Inbox {
  questions: QuestionView[]
  missions: MissionView[]
  plans: { id: string; goal: string }[]
  failures: MissionView[]
  count: number
}

async function showInbox(cli: Cli): Promise<number | undefined> {
  const { terminal } = cli
  const inbox = await cli.ask<Inbox>('list_inbox', {})
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
  if (inbox.failures.length) terminal.print(`\n${terminal.paint('dim', 'Recent failures')}`)
  for (const mission of inbox.failures) tellStanding(cli, mission)
  return inbox.count ? EXIT.person : undefined
}

/** The titles of the missions that ask. */
async function titlesOf(cli: Cli, questions: readonly QuestionView[]): Promise<Map<string, string>> {
  const ids = [...new Set(questions.map(({ mission_id }) => mission_id))]
  if (!ids.length) return new Map()
  const { missions } = await cli.ask<{ missions: MissionView[] }>('list_missions', { ids, limit: ids.length })
  return new Map(missions.map(({ id, title }) => [id, title]))
}

function tellStanding({ terminal }: Cli, { id, title, status, status_reason }: MissionView): void {
  terminal.print(
    `${terminal.paint('bold', shortId(id))}  ${terminal.foreign(`${title}: ${status_reason?.text ?? status}`)}`,
  )
  if (status_reason?.try) terminal.note(`  ${status_reason.try}`)
}
