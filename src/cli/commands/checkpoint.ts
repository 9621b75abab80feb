import type { Command } from 'commander'
import type { z } from 'zod'
import { shortId } from '../../domain/ids.ts'
import { CHECKPOINT_STATES } from '../../domain/records/checkpoint.ts'
import { standingInWords } from '../../domain/rules/checkpoint.ts'
import type { checkpoints } from '../../operations/checkpoints.ts'
import { addFields, type Cli, does, type Field, inputFrom, textFrom } from '../command.ts'
import { ago } from '../show.ts'
import { askTeam, TEAM } from '../team-here.ts'

type Answer<N extends (typeof checkpoints)[number]['name']> = z.infer<
  Extract<(typeof checkpoints)[number], { name: N }>['output']
>
type Shown = Answer<'get_checkpoint'>

const ID = ['<checkpoint>', 'id or first letters'] as const
const STANDING: readonly Field[] = [
  { flags: '--to <member>', field: 'to_handle', summary: 'who goes on with it (default: yourself)' },
  { flags: '--test <text>', field: 'test', summary: 'how to see whether it works' },
  { flags: '--worked <text...>', field: 'worked', summary: 'what worked', kind: 'list' },
  { flags: '--failed <text...>', field: 'failed', summary: 'what was tried and failed', kind: 'list' },
  { flags: '--blocker <text...>', field: 'blockers', summary: 'what is in the way', kind: 'list' },
  { flags: '--question <text...>', field: 'questions', summary: 'what is open', kind: 'list' },
  { flags: '--next <text...>', field: 'next', summary: 'what to do next', kind: 'list' },
  TEAM,
]
const LISTED: readonly Field[] = [
  { flags: '--to <member>', field: 'to_handle', summary: 'only those addressed to this member' },
  { flags: '--state <state>', field: 'state', summary: 'only in this state', choices: CHECKPOINT_STATES },
  TEAM,
]
const LOADED: readonly Field[] = [
  { flags: '--member <member>', field: 'member', summary: 'whose next session (default: its addressee)' },
]

export function addCheckpoint(program: Command): void {
  const checkpoint = program
    .command('checkpoint')
    .description('write checkpoints, and hand work from one team member to another')
  const create = checkpoint
    .command('create')
    .description('write down how your work stands')
    .argument('<goal>', 'what is to be reached')
    .argument('<now>', 'how it stands; - reads stdin, @file reads a file')
  does(addFields(create, STANDING), async (cli, [goal, now], options) => {
    const input = { ...inputFrom(STANDING, options), goal, now: await textFrom(cli, now!) }
    written(cli, await askTeam(cli, 'checkpoint_create', input))
  })
  const handoff = checkpoint
    .command('handoff')
    .description('hand work over to a member, which is woken')
    .argument('<member>', 'name of the member')
    .argument('<context>', 'how it stands, and what is to be done; - reads stdin, @file reads a file')
  does(addFields(handoff, [TEAM]), async (cli, [to, text], options) =>
    written(
      cli,
      await askTeam(cli, 'team_handoff', { ...inputFrom([TEAM], options), to, context: await textFrom(cli, text!) }),
    ),
  )
  const list = checkpoint.command('list').alias('ls').description('list checkpoints, newest first')
  does(addFields(list, LISTED), async (cli, _, options) =>
    listCheckpoints(cli, await askTeam(cli, 'checkpoint_list', inputFrom(LISTED, options))),
  )
  const show = checkpoint
    .command('show')
    .description('show a checkpoint')
    .argument(...ID)
  does(show, async (cli, [id]) => showOne(cli, await cli.ask('get_checkpoint', { checkpoint_id: id })))
  const load = checkpoint
    .command('load')
    .description('put a checkpoint into the prompt of the next session of a member')
    .argument(...ID)
  does(addFields(load, LOADED), async (cli, [id], options) =>
    showOne(cli, await askTeam(cli, 'checkpoint_load', { ...inputFrom(LOADED, options), checkpoint_id: id })),
  )
  const accept = checkpoint
    .command('accept')
    .description('accept a checkpoint that is addressed to you')
    .argument(...ID)
    .argument('[outcome]', 'what you will do with it')
  does(accept, async (cli, [id, outcome]) =>
    showOne(cli, await cli.ask('checkpoint_accept', { checkpoint_id: id, ...(outcome && { outcome }) })),
  )
  const reject = checkpoint
    .command('reject')
    .description('reject a checkpoint that is addressed to you')
    .argument(...ID)
    .argument('<reason>', 'why')
  does(reject, async (cli, [id, outcome]) =>
    showOne(cli, await cli.ask('checkpoint_reject', { checkpoint_id: id, outcome })),
  )
}

const written = ({ terminal }: Cli, answer: Shown): undefined =>
  void terminal.tell(answer, () => terminal.print(`Wrote ${shortId(answer.id)} for ${answer.to.handle}.`))

function listCheckpoints({ terminal }: Cli, answer: Answer<'checkpoint_list'>): undefined {
  if (terminal.json) return void terminal.data(answer)
  if (!answer.checkpoints.length) return void terminal.note('There are no checkpoints.')
  terminal.table(
    [
      { title: 'ID', value: each => shortId(each.id) },
      { title: 'FROM', value: each => terminal.foreign(each.from.handle) },
      { title: 'TO', value: each => terminal.foreign(each.to.handle) },
      { title: 'STATE', value: each => each.state },
      { title: 'WHEN', value: each => ago(each.created_at) },
      { title: 'GOAL', value: each => terminal.foreign(each.goal.replace(/\s+/g, ' ')), flexible: true },
    ],
    answer.checkpoints,
  )
  return undefined
}

function showOne({ terminal }: Cli, each: Shown): undefined {
  if (terminal.json) return void terminal.data(each)
  const { id, from, to, state, outcome, commit, no_commit, created_at } = each
  terminal.print(
    `${terminal.paint('bold', shortId(id))}  ${terminal.foreign(from.handle)} → ${terminal.foreign(to.handle)}  ${state}  ${ago(created_at)}`,
  )
  if (outcome) terminal.print(`  Outcome: ${terminal.foreign(outcome)}`)
  terminal.print(commit ? `  Commit: ${commit}` : `  No commit: ${terminal.foreign(no_commit ?? '')}`)
  for (const line of terminal.foreign(standingInWords(each)).split('\n')) terminal.print(`  ${line}`)
  return undefined
}
