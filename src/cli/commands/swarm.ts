import type { Command } from 'commander'
import type { z } from 'zod'
import type { swarms } from '../../operations/swarms.ts'
import { addFields, type Cli, does, type Field, inputFrom, textFrom } from '../command.ts'
import { askTeam, TEAM } from '../team-here.ts'

type Answer<N extends (typeof swarms)[number]['name']> = z.infer<
  Extract<(typeof swarms)[number], { name: N }>['output']
>

const SWARM = ['<swarm>', 'name or id of the swarm'] as const
const FIELDS: readonly Field[] = [
  { flags: '--description <text>', field: 'description', summary: 'what it is for' },
  { flags: '--max-agents <n>', field: 'max_agents', summary: 'how many members it may have (10)', kind: 'number' },
  TEAM,
]

export function addSwarm(program: Command): void {
  const swarm = program.command('swarm').description('manage swarms: groups within a team')
  const create = swarm.command('create').description('create a swarm').argument('<name>', 'letters, digits, - and _')
  does(addFields(create, FIELDS), async (cli, [name], options) => {
    const answer = await askTeam<Answer<'swarm_create'>>(cli, 'swarm_create', { ...inputFrom(FIELDS, options), name })
    cli.terminal.tell(answer, () => {
      cli.terminal.print(`Created the swarm ${answer.name} for at most ${answer.max_agents} agents.`)
      cli.terminal.note(`Add a member: fleet team add <team> <name> --swarm ${answer.name}`)
    })
  })
  const list = swarm.command('list').alias('ls').description('list the swarms of a team')
  does(addFields(list, [TEAM]), async (cli, _, options) =>
    listSwarms(cli, await askTeam(cli, 'swarm_list', inputFrom([TEAM], options))),
  )
  const kill = swarm
    .command('kill')
    .description('dismiss all members of a swarm; their work is kept')
    .argument(...SWARM)
  does(addFields(kill, [TEAM]), async (cli, [name], options) => {
    const input = { ...inputFrom([TEAM], options), swarm_id: name }
    const answer = await askTeam<Answer<'swarm_kill'>>(cli, 'swarm_kill', input)
    cli.terminal.tell(answer, () =>
      cli.terminal.print(
        answer.members.length
          ? `Killed ${answer.name}. ${answer.members.join(', ')} will be dismissed.`
          : `Killed ${answer.name}. Nobody was in it.`,
      ),
    )
  })
  const broadcast = swarm
    .command('broadcast')
    .description('write to all members of a swarm')
    .argument(...SWARM)
    .argument('<text>', 'the message; - reads stdin, @file reads a file')
  does(addFields(broadcast, [TEAM]), async (cli, [name, text], options) => {
    const input = { ...inputFrom([TEAM], options), swarm_id: name, message: await textFrom(cli, text!) }
    const answer = await askTeam<Answer<'swarm_broadcast'>>(cli, 'swarm_broadcast', input)
    cli.terminal.tell(answer, () => cli.terminal.print(`Sent to ${answer.deliveries.map(({ to }) => to).join(', ')}.`))
  })
}

function listSwarms({ terminal }: Cli, answer: Answer<'swarm_list'>): undefined {
  if (terminal.json) return void terminal.data(answer)
  if (!answer.swarms.length) return void terminal.note('There are no swarms. Create one: fleet swarm create <name>')
  terminal.table(
    [
      { title: 'SWARM', value: each => each.name },
      { title: 'AGENTS', value: each => `${each.members.length} of ${each.max_agents}` },
      { title: 'STATE', value: each => each.state },
      { title: 'MEMBERS', value: each => each.members.join(', '), flexible: true },
    ],
    answer.swarms,
  )
  return undefined
}
