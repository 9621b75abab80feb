import type { Command } from 'commander'
import { InvalidInput } from '../../domain/errors.ts'
import { shortId } from '../../domain/ids.ts'
import { decisionIn } from '../../domain/rules/decisions.ts'
import { does } from '../command.ts'
import { addImageOption, imagesFrom } from '../images.ts'
import type { QuestionView } from '../inbox.ts'

export function addTalk(program: Command): void {
  const say = program
    .command('say')
    .description('send a message to an agent at work')
    .argument('<mission>', 'id or first letters')
    .argument('<text>', 'message to send')
  addImageOption(say)
  does(say, async (cli, [mission, text], options) => {
    const images = await imagesFrom(cli, options)
    const said = await cli.ask<{ heard: string }>('say_to_mission', { mission_id: mission, text, ...images })
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
      .description('list what waits for you: questions, reviews, blocked missions, plans, recent failures'),
    async cli => (await import('../inbox.ts')).showInbox(cli),
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
