import type { Command } from 'commander'
import type { z } from 'zod'
import { shortId } from '../../domain/ids.ts'
import { NEEDS, PRIORITIES } from '../../domain/records/team.ts'
import type { mail as operations } from '../../operations/mail.ts'
import { addFields, type Cli, does, type Field, inputFrom, textFrom } from '../command.ts'
import { EXIT } from '../exit.ts'
import { ago } from '../show.ts'
import { askTeam, TEAM } from '../team-here.ts'
import { untilThereIs } from '../until.ts'

type Answer<N extends (typeof operations)[number]['name']> = z.infer<
  Extract<(typeof operations)[number], { name: N }>['output']
>
type Message = Answer<'get_mail'>

const ID = ['<message>', 'id or first letters'] as const
const LETTER: readonly Field[] = [
  { flags: '--subject <text>', field: 'subject', summary: 'subject' },
  { flags: '--needs <what>', field: 'needs', summary: 'what is expected (none)', choices: NEEDS },
  { flags: '--priority <priority>', field: 'priority', summary: 'priority (normal)', choices: PRIORITIES },
  { flags: '--deadline <time>', field: 'deadline', summary: 'until when, such as 2026-12-24T18:00:00Z' },
  { flags: '--wake', field: 'wake', summary: 'wake an idle member even if nothing is needed', kind: 'flag' },
]

export function addMail(program: Command): void {
  const mail = program.command('mail').description('write to the members of a team, and read what they write to you')
  const send = mail
    .command('send')
    .description('write to members by name, @role or @all')
    .argument('<to>', 'a name, @role or @all; several separated by commas')
    .argument('<text>', 'the message; - reads stdin, @file reads a file')
  addFields(send, [...LETTER, TEAM]).option('--wait', 'wait for the reply and print it')
  does(send, async (cli, [to, text], options) => {
    const wanted = inputFrom([...LETTER, TEAM], options)
    const needs = options.wait && !wanted.needs ? { needs: 'reply' } : {}
    const input = { ...wanted, ...needs, to: to!.split(','), body: await textFrom(cli, text!) }
    const message = await askTeam<Answer<'send_mail'>>(cli, 'send_mail', input)
    return options.wait ? replied(cli, message) : sent(cli, message)
  })
  const reply = mail
    .command('reply')
    .description('reply to a message')
    .argument(...ID)
    .argument('<text>', 'the reply')
  does(addFields(reply, LETTER), async (cli, [id, text], options) => {
    const input = { ...inputFrom(LETTER, options), mail_id: id, body: await textFrom(cli, text!) }
    sent(cli, await cli.ask<Answer<'reply_mail'>>('reply_mail', input))
  })
  const read = mail.command('read').description('read your mail; from then on it counts as read')
  read
    .option('--all', 'everything, newest first')
    .option('--keep-unread', 'only look')
    .option('--wait <seconds>', 'wait for mail if there is none: at most 25')
  does(addFields(read, [TEAM]), async (cli, _, options) => {
    const filter = options.all ? 'all' : 'unread'
    const waiting = options.wait === undefined ? {} : { wait_seconds: Number(options.wait) }
    const input = { ...inputFrom([TEAM], options), filter, mark_read: options.keepUnread !== true, ...waiting }
    showAll(cli, await askTeam<Answer<'read_mail'>>(cli, 'read_mail', input), 'You have no mail.')
  })
  const list = mail.command('list').alias('ls').description('list the mail of a team, newest first')
  list.option('--thread <message>', 'one conversation, oldest first')
  does(addFields(list, [TEAM]), async (cli, _, options) => {
    const input = { ...inputFrom([TEAM], options), thread: options.thread }
    showAll(cli, await askTeam<Answer<'list_mail'>>(cli, 'list_mail', input), 'There is no mail yet.')
  })
  const show = mail
    .command('show')
    .description('show a message and who heard it')
    .argument(...ID)
  does(show, async (cli, [id]) => showMessage(cli, await cli.ask<Message>('get_mail', { mail_id: id })))
  addActs(mail)
}

function addActs(mail: Command): void {
  const ack = mail
    .command('ack')
    .description('acknowledge a message to you')
    .argument(...ID)
  does(ack, async (cli, [id]) => acted(cli, await cli.ask('ack_mail', { mail_id: id })))
  const decline = mail
    .command('decline')
    .description('decline what a message asks for')
    .argument(...ID)
    .argument('<reason>', 'why')
  does(decline, async (cli, [id, reason]) => acted(cli, await cli.ask('decline_mail', { mail_id: id, reason })))
  const cancel = mail
    .command('cancel')
    .description('take a message back where it was not handed over')
    .argument(...ID)
  does(cancel, async (cli, [id]) => {
    const answer = await cli.ask<Answer<'cancel_mail'>>('cancel_mail', { mail_id: id })
    cli.terminal.tell(answer, () => {
      for (const { to } of answer.cancelled) cli.terminal.print(`${to}: cancelled`)
      for (const { to, state } of answer.kept) cli.terminal.print(`${to}: too late, ${state} already`)
    })
    return answer.cancelled.length || !answer.kept.length ? EXIT.done : EXIT.state
  })
  const release = mail
    .command('release')
    .description('let a message go that limits hold back')
    .argument(...ID)
  does(release, async (cli, [id]) => showMessage(cli, await cli.ask<Message>('release_mail', { mail_id: id })))
}

function sent({ terminal }: Cli, message: Answer<'send_mail'>): undefined {
  terminal.tell(message, () => {
    terminal.print(`Sent ${shortId(message.id)} to ${message.deliveries.map(({ to }) => to).join(', ')}.`)
    if (message.deliveries.length > 1) terminal.note(`${wakingWords(message)}.`)
    for (const { to, held, reason } of message.deliveries)
      if (held ?? reason) terminal.note(`${to}: ${terminal.foreign(held ?? reason ?? '')}`)
  })
  return undefined
}

function wakingWords({ wakes, likely_cost_usd }: Answer<'send_mail'>): string {
  if (!wakes) return 'It wakes nobody'
  const who = wakes === 1 ? 'It wakes 1 member' : `It wakes ${wakes} members`
  return likely_cost_usd ? `${who}; by their last sessions that costs about $${likely_cost_usd.toFixed(2)}` : who
}

/** Waits until nobody is expected to answer any more, and prints the replies. */
async function replied(cli: Cli, { id, project_id, team_id }: Message): Promise<number | undefined> {
  const client = await cli.client()
  const open = (each: Message) => each.deliveries.filter(({ closed_at }) => closed_at === null)
  const end = await untilThereIs(client, project_id, async () => {
    const now = await client.call<Message>('get_mail', { mail_id: id })
    cli.terminal.progress(
      open(now)
        .map(({ to, state }) => `${to}: ${state}`)
        .join(' · '),
    )
    return open(now).length ? undefined : now
  })
  const { messages } = await client.call<Answer<'list_mail'>>('list_mail', { thread: id })
  const mail_ids = messages.filter(({ reply_to }) => reply_to === id).map(each => each.id)
  // They are printed, so they are read.
  const reading = { team_id, mail_ids, filter: 'all' }
  const read = mail_ids.length ? await client.call<Answer<'read_mail'>>('read_mail', reading) : { messages: [] }
  const replies = read.messages.toReversed()
  cli.terminal.tell({ message: end, replies }, () => {
    for (const reply of replies) showMessage(cli, reply)
    for (const { to, state, reason } of end.deliveries.filter(each => each.state !== 'replied'))
      cli.terminal.note(`${to}: ${state}${reason ? `. ${cli.terminal.foreign(reason)}` : ''}`)
  })
  return replies.length ? EXIT.done : EXIT.failed
}

const acted = ({ terminal }: Cli, delivery: Answer<'ack_mail'>): undefined =>
  void terminal.tell(delivery, () => terminal.print(`${shortId(delivery.mail_id)}: ${delivery.state}`))

function showAll(cli: Cli, answer: Answer<'list_mail'>, none: string): undefined {
  if (cli.terminal.json) return void cli.terminal.data(answer)
  if (!answer.messages.length) return void cli.terminal.note(none)
  for (const message of answer.messages) showMessage(cli, message)
  return undefined
}

function showMessage({ terminal }: Cli, message: Message): undefined {
  if (terminal.json) return void terminal.data(message)
  const { id, from, to, subject, needs, created_at, body, deliveries } = message
  const wants = needs === 'none' ? '' : `  wants ${needs === 'ack' ? 'an acknowledgement' : `a ${needs}`}`
  terminal.print(
    `${terminal.paint('bold', shortId(id))}  ${terminal.foreign(from.handle)} → ${terminal.foreign(to.join(', '))}  ${ago(created_at)}${wants}`,
  )
  if (subject) terminal.print(`  ${terminal.paint('bold', terminal.foreign(subject))}`)
  for (const line of terminal.foreign(body).split('\n')) terminal.print(`  ${line}`)
  for (const each of deliveries)
    terminal.print(
      terminal.paint(
        'dim',
        `  ${each.to}: ${each.held ? `held back. ${each.held}` : each.state}${each.reason ? `. ${terminal.foreign(each.reason)}` : ''}`,
      ),
    )
  return undefined
}
