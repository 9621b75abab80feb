import type { Command } from 'commander'
import type { z } from 'zod'
import { shortId } from '../../domain/ids.ts'
import { MEMBER_ROLES, PRIORITIES } from '../../domain/records/team.ts'
import type { spawns } from '../../operations/spawns.ts'
import { addFields, type Cli, does, type Field, inputFrom, textFrom } from '../command.ts'
import { ago } from '../show.ts'
import { askTeam, TEAM } from '../team-here.ts'

type Answer<N extends (typeof spawns)[number]['name']> = z.infer<
  Extract<(typeof spawns)[number], { name: N }>['output']
>
type Shown = Answer<'spawn_request'>

const ID = ['<request>', 'id or first letters'] as const
const SWARM: Field = { flags: '--swarm <swarm>', field: 'swarm_id', summary: 'swarm that it joins' }
const AGENT: Field = {
  flags: '--agent <agent>',
  field: 'agent',
  summary: 'agent (default: yours, or that of the project)',
}
const SPAWNED: readonly Field[] = [
  { flags: '--role <role>', field: 'role', summary: 'role in the team (worker)', choices: MEMBER_ROLES },
  { flags: '--charter <text>', field: 'charter', summary: 'its standing instructions' },
  { flags: '--model <model>', field: 'model', summary: 'model' },
  ...[AGENT, SWARM, TEAM],
]
const REQUESTED: readonly Field[] = [
  { flags: '--name <name>', field: 'handle', summary: 'its name (default: made from its role)' },
  { flags: '--priority <priority>', field: 'priority', summary: 'how urgent it is (normal)', choices: PRIORITIES },
  { flags: '--after <request...>', field: 'depends_on', summary: 'requests to wait for', kind: 'list' },
  ...[AGENT, SWARM, TEAM],
]

export function addSpawns(team: Command): void {
  const spawn = team
    .command('spawn')
    .description('add an agent and give it its first task; without room it waits in order')
    .argument('<name>', 'its name in the team: letters, digits, - and _')
    .argument('<task>', 'its first task; - reads stdin, @file reads a file')
  does(addFields(spawn, SPAWNED), async (cli, [handle, task], options) => {
    const input = { ...inputFrom(SPAWNED, options), handle, prompt: await textFrom(cli, task!) }
    tell(cli, await askTeam(cli, 'team_spawn', input))
  })
  const request = team
    .command('request')
    .description('ask for another member; a lead, a person or the policy of the team grants it')
    .argument('<role>', MEMBER_ROLES.join(', '))
    .argument('<task>', 'its first task; - reads stdin, @file reads a file')
  does(addFields(request, REQUESTED), async (cli, [agent_type, task], options) => {
    const input = { ...inputFrom(REQUESTED, options), agent_type, task: await textFrom(cli, task!) }
    tell(cli, await askTeam(cli, 'spawn_request', input))
  })
  does(addFields(team.command('requests').description('requests for members'), [TEAM]), async (cli, _, options) =>
    listRequests(cli, await askTeam(cli, 'spawn_status', inputFrom([TEAM], options))),
  )
  for (const [verb, operation, summary] of [
    ['grant', 'spawn_grant', 'grant a request: the member is added as soon as there is room'],
    ['cancel', 'spawn_cancel', 'take back a request for a member'],
  ] as const)
    does(
      team
        .command(verb)
        .description(summary)
        .argument(...ID),
      async (cli, [id]) => tell(cli, await cli.ask(operation, { spawn_id: id })),
    )
  const refuse = team
    .command('refuse')
    .description('refuse a request for a member')
    .argument(...ID)
    .argument('<reason>', 'why; whoever asked is told')
  does(refuse, async (cli, [id, reason]) => tell(cli, await cli.ask('spawn_refuse', { spawn_id: id, reason })))
}

const tell = ({ terminal }: Cli, each: Shown): undefined =>
  void terminal.tell(each, () => {
    const { id, handle, role, state, waits_for, reason } = each
    if (state === 'spawned') return terminal.print(`${handle} is a ${role}, and has its task.`)
    const why = waits_for ? `: it waits for ${waits_for}` : reason ? `: ${reason.replace(/\.$/, '')}` : ''
    return terminal.print(`The request ${shortId(id)} for a ${role} is ${state}${terminal.foreign(why)}.`)
  })

function listRequests({ terminal }: Cli, { requests }: Answer<'spawn_status'>): undefined {
  if (terminal.json) return void terminal.data({ requests })
  if (!requests.length) return void terminal.note('There are no requests for members.')
  terminal.table(
    [
      { title: 'ID', value: each => shortId(each.id) },
      { title: 'FROM', value: each => terminal.foreign(each.from.handle) },
      { title: 'MEMBER', value: each => each.handle ?? each.role },
      { title: 'STATE', value: each => each.state },
      { title: 'WHEN', value: each => ago(each.created_at) },
      { title: 'WAITS FOR', value: each => terminal.foreign(each.waits_for ?? each.reason ?? ''), flexible: true },
    ],
    requests,
  )
  return undefined
}
