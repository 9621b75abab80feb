import type { Command } from 'commander'
import type { z } from 'zod'
import { shortId } from '../../domain/ids.ts'
import { POST_TYPES } from '../../domain/records/board.ts'
import { PRIORITIES } from '../../domain/records/team.ts'
import type { blackboard } from '../../operations/blackboard.ts'
import { addFields, type Cli, does, type Field, inputFrom, textFrom } from '../command.ts'
import { ago } from '../show.ts'
import { askTeam, TEAM } from '../team-here.ts'

type Answer<N extends (typeof blackboard)[number]['name']> = z.infer<
  Extract<(typeof blackboard)[number], { name: N }>['output']
>

const BOARD: readonly Field[] = [
  TEAM,
  { flags: '--swarm <swarm>', field: 'swarm_id', summary: 'the board of this swarm (default: that of the team)' },
]
const POSTING: readonly Field[] = [
  { flags: '--for <member>', field: 'target_handle', summary: 'the member whom it concerns most' },
  { flags: '--priority <priority>', field: 'priority', summary: 'priority (normal)', choices: PRIORITIES },
  ...BOARD,
]
const READING: readonly Field[] = [
  { flags: '--type <type>', field: 'message_type', summary: 'only this type', choices: POST_TYPES },
  { flags: '--priority <priority>', field: 'priority', summary: 'only this priority', choices: PRIORITIES },
  { flags: '--unread', field: 'unread_only', summary: 'only what you have not marked as read', kind: 'flag' },
  { flags: '--for-me', field: 'for_me', summary: 'only what is addressed to you', kind: 'flag' },
  { flags: '--archived', field: 'archived', summary: 'also what was archived', kind: 'flag' },
  ...BOARD,
]
const ARCHIVING: readonly Field[] = [
  {
    flags: '--older-than <hours>',
    field: 'older_than_hours',
    summary: 'everything older on this board',
    kind: 'number',
  },
  ...BOARD,
]

export function addBlackboard(program: Command): void {
  const board = program.command('blackboard').description('read and write the blackboard of a team')
  const post = board
    .command('post')
    .description('write on the blackboard; it wakes nobody')
    .argument('<type>', POST_TYPES.join(', '))
    .argument('<text>', 'the text; - reads stdin, @file reads a file')
  does(addFields(post, POSTING), async (cli, [message_type, text], options) => {
    const input = { ...inputFrom(POSTING, options), message_type, payload: await textFrom(cli, text!) }
    const answer = await askTeam<Answer<'blackboard_post'>>(cli, 'blackboard_post', input)
    cli.terminal.tell(answer, () => cli.terminal.print(`Posted ${shortId(answer.id)}.`))
  })
  const read = board.command('read').alias('list').description('read the blackboard, newest first')
  read.option('--mark', 'mark what is shown as read')
  does(addFields(read, READING), async (cli, _, options) => {
    const input = inputFrom(READING, options)
    const answer = await askTeam<Answer<'blackboard_read'>>(cli, 'blackboard_read', input)
    showPosts(
      cli,
      answer,
      options.unread ? 'You have read everything on the blackboard.' : 'There is nothing on the blackboard.',
    )
    if (options.mark && answer.posts.length)
      await askTeam(cli, 'blackboard_mark_read', {
        ...(input.team_id !== undefined && { team_id: input.team_id }),
        post_ids: answer.posts.map(({ id }) => id),
      })
  })
  const archive = board
    .command('archive')
    .description('archive posts, or everything older than some hours')
    .argument('[posts...]', 'ids or first letters')
  does(addFields(archive, ARCHIVING), async (cli, posts, options) => {
    const ids = posts.filter(Boolean)
    const input = { ...inputFrom(ARCHIVING, options), ...(ids.length && { post_ids: ids }) }
    const answer = await askTeam<Answer<'blackboard_archive'>>(cli, 'blackboard_archive', input)
    cli.terminal.tell(answer, () =>
      cli.terminal.print(`Archived ${answer.archived} ${answer.archived === 1 ? 'post' : 'posts'}.`),
    )
  })
}

function showPosts({ terminal }: Cli, answer: Answer<'blackboard_read'>, nothing: string): undefined {
  if (terminal.json) return void terminal.data(answer)
  if (!answer.posts.length) return void terminal.note(nothing)
  for (const { id, from, target, message_type, priority, payload, read, created_at } of answer.posts) {
    const to = target ? ` → ${terminal.foreign(target.handle)}` : ''
    const urgency = priority === 'normal' ? '' : `, ${priority}`
    terminal.print(
      `${terminal.paint('bold', shortId(id))}  ${terminal.foreign(from.handle)}${to}  ${message_type}${urgency}  ${ago(created_at)}${read ? '' : '  new'}`,
    )
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload, null, 2)
    for (const line of terminal.foreign(text).split('\n')) terminal.print(`  ${line}`)
  }
  return undefined
}
