import type { Command } from 'commander'
import type { z } from 'zod'
import { NotFound } from '../../domain/errors.ts'
import { TOOL_PRESETS } from '../../domain/records/project.ts'
import { MEMBER_ROLES, SPAWNING } from '../../domain/records/team.ts'
import type { teams } from '../../operations/teams.ts'
import { addFields, type Cli, does, type Field, inputFrom, textFrom } from '../command.ts'
import { APPROVALS_FIELD } from '../mission-fields.ts'
import { projectHere, projectRef } from '../project-here.ts'
import { inStatusColour } from '../show.ts'
import { showIll } from './monitor.ts'
import { addJoining } from './team-joining.ts'
import { addReservations } from './team-reservations.ts'
import { addSpawns } from './team-spawns.ts'
import { addTeamTasks } from './team-tasks.ts'

type Answer<N extends (typeof teams)[number]['name']> = z.infer<Extract<(typeof teams)[number], { name: N }>['output']>

const TEAM = ['<team>', 'name or id of the team'] as const
const MEMBER = ['<member>', 'name of the member'] as const

const TEAM_FIELDS: readonly Field[] = [
  { flags: '--description <text>', field: 'description', summary: 'what the team is for; its members are told' },
  { flags: '--max-members <n>', field: 'max_members', summary: 'how many agents it may have (10)', kind: 'number' },
  { flags: '--budget <usd>', field: 'max_budget_usd', summary: 'maximum cost of all members', kind: 'number' },
]
const CHANGED_FIELDS: readonly Field[] = [
  ...TEAM_FIELDS,
  { flags: '--spawning <policy>', field: 'spawning', summary: 'requests of members for more', choices: SPAWNING },
]
const MEMBER_FIELDS: readonly Field[] = [
  { flags: '--role <role>', field: 'role', summary: 'role in the team (worker)', choices: MEMBER_ROLES },
  { flags: '--agent <agent>', field: 'agent', summary: 'agent (default: that of the project)' },
  { flags: '--model <model>', field: 'model', summary: 'model' },
  { flags: '--effort <level>', field: 'effort', summary: 'reasoning effort; see fleet agents' },
  { flags: '--budget <usd>', field: 'max_budget_usd', summary: 'maximum cost of its sessions', kind: 'number' },
  { flags: '--preset <preset>', field: 'tool_preset', summary: 'tools it may use', choices: TOOL_PRESETS },
  APPROVALS_FIELD,
  { flags: '--swarm <swarm>', field: 'swarm_id', summary: 'swarm that it joins' },
  { flags: '--works-for <member>', field: 'works_for', summary: 'who is told first if its answers are overdue' },
  { flags: '--label <label...>', field: 'labels', summary: 'labels', kind: 'list' },
]

export function addTeam(program: Command): void {
  const team = program.command('team').description('manage teams of agents that write to each other and share tasks')
  const create = team.command('create').description('create a team').argument('<name>', 'letters, digits, - and _')
  create.option('-t, --template <template>', 'its members: a built-in template, or a file of your own')
  addFields(create, TEAM_FIELDS).option('--project <project>', 'id, name or path (default: the repository you are in)')
  does(create, async (cli, [name], options) => {
    const project_id = options.project
      ? await projectRef(cli, String(options.project))
      : (await projectHere(cli)).project.id
    const from = options.template === undefined ? {} : await templateFrom(cli, String(options.template))
    const input = { ...from, ...inputFrom(TEAM_FIELDS, options), name, project_id }
    const answer = await cli.ask<Answer<'create_team'>>('create_team', input)
    cli.terminal.tell(answer, () => {
      const agents = answer.members.filter(({ person }) => person === null)
      const who = agents.length ? ` with ${agents.map(({ handle }) => handle).join(', ')}` : ''
      cli.terminal.print(`Created the team ${answer.name}${who}.`)
      const lead = agents.find(({ role }) => role === 'team-lead') ?? agents[0]
      if (lead) cli.terminal.note(`Write to it: fleet mail send ${lead.handle} "…" --team ${answer.name}`)
      else cli.terminal.note(`Add a member: fleet team add ${answer.name} <name> --charter "…"`)
    })
  })
  const templates = team
    .command('templates')
    .description('list the built-in templates, or print one as a file to start from')
    .argument('[template]', 'print this one')
  does(templates, async (cli, [name]) => {
    const { templates: all } = await cli.ask<Answer<'list_team_templates'>>('list_team_templates', {})
    const found = name === undefined ? all : all.filter(each => each.name === name)
    if (!found.length)
      throw new NotFound('template', name!, { try: `One of ${all.map(each => each.name).join(', ')}.` })
    cli.terminal.tell({ templates: found }, () =>
      name === undefined
        ? cli.terminal.facts(all.map(each => [each.name, each.summary]))
        : cli.terminal.print(found[0]!.file.trimEnd()),
    )
    return undefined
  })
  does(team.command('list').alias('ls').description('list teams'), listTeams)
  const show = team
    .command('show')
    .description('show a team and what each member does now')
    .argument(...TEAM)
  does(show, async (cli, [name]) => showTeam(cli, await cli.ask('get_team', { team_id: name })))
  const set = addFields(
    team
      .command('set')
      .description('change a team')
      .argument(...TEAM),
    CHANGED_FIELDS,
  )
  does(set, async (cli, [name], options) =>
    showTeam(cli, await cli.ask('change_team', { team_id: name, ...inputFrom(CHANGED_FIELDS, options) })),
  )
  addPausing(team)
  const remove = team
    .command('delete')
    .description('delete a team; its mail and the work of its members stay')
    .argument(...TEAM)
    .option('--dismiss', 'dismiss its agents first')
  does(remove, async (cli, [name], { dismiss }) => {
    const answer = await cli.ask<Answer<'delete_team'>>('delete_team', { team_id: name, dismiss: dismiss === true })
    cli.terminal.tell(answer, () => cli.terminal.print(`The team ${name} is deleted.`))
  })
  addMembers(team)
  addJoining(team)
  addReservations(team)
  addTeamTasks(team)
  addSpawns(team)
}

/** `fleet team add`, and `fleet member create` for whoever looks for it beside what is done with members in tmux. */
export function addsMember(command: Command): Command {
  command
    .argument(...TEAM)
    .argument('<name>', 'its name in the team: letters, digits, - and _')
    .option('--charter <text>', 'its standing instructions; - reads stdin, @file reads a file')
    .option('--tmux', 'its own client in a window of tmux, which you can watch and type in')
    .option('--conversation <session>', 'go on with a copy of the conversation of a session of the project')
  return does(addFields(command, MEMBER_FIELDS), async (cli, [name, handle], options) => {
    const charter = options.charter === undefined ? '' : await textFrom(cli, String(options.charter))
    const placement = options.tmux ? { placement: 'tmux' } : {}
    const { conversation } = options
    const input = { ...inputFrom(MEMBER_FIELDS, options), ...placement, team_id: name, handle, charter, conversation }
    const answer = await cli.ask<Answer<'add_member'>>('add_member', input)
    cli.terminal.tell(answer, () => {
      cli.terminal.print(`${answer.handle} is a ${answer.role} of ${name}.`)
      cli.terminal.note(`Write to it: fleet mail send ${answer.handle} "…" --team ${name}`)
    })
  })
}

function addMembers(team: Command): void {
  addsMember(team.command('add').description('add an agent to a team; mail starts it'))
  const dismiss = team
    .command('dismiss')
    .description('dismiss a member: its session stops, its work is kept, its unread mail goes back')
    .argument(...TEAM)
    .argument(...MEMBER)
    .option('-m, --reason <text>', 'why')
  does(dismiss, async (cli, [name, member], { reason }) => {
    const answer = await cli.ask<Answer<'dismiss_member'>>('dismiss_member', { team_id: name, member, reason })
    cli.terminal.tell(answer, () => cli.terminal.print(`${answer.handle} is dismissed.`))
  })
}

function addPausing(team: Command): void {
  for (const [verb, paused, summary] of [
    ['pause', true, 'pause a team or one member: mail waits'],
    ['unpause', false, 'let mail wake a team or one member again'],
  ] as const) {
    const command = team
      .command(verb)
      .description(summary)
      .argument(...TEAM)
      .argument('[member]', 'only this member')
    does(command, async (cli, [name, member]) => {
      if (member === undefined) return showTeam(cli, await cli.ask('change_team', { team_id: name, paused }))
      await cli.ask('change_member', { team_id: name, member, paused })
      return showTeam(cli, await cli.ask('get_team', { team_id: name }))
    })
  }
}

/** A name without a dot or slash is that of a built-in template. */
async function templateFrom(cli: Cli, what: string): Promise<object> {
  if (!/[./\\]/.test(what)) return { template: what }
  return { file: await textFrom(cli, `@${what}`) }
}

async function listTeams(cli: Cli): Promise<undefined> {
  const { terminal } = cli
  const answer = await cli.ask<Answer<'list_teams'>>('list_teams', {})
  if (terminal.json) return void terminal.data(answer)
  if (!answer.teams.length) return void terminal.note('There are no teams. Create one: fleet team create <name>')
  terminal.table(
    [
      { title: 'TEAM', value: each => each.name },
      { title: 'AGENTS', value: each => String(each.agents), right: true },
      { title: 'PEOPLE', value: each => String(each.people), right: true },
      { title: 'STATE', value: each => (each.paused ? 'paused' : 'active') },
      { title: 'FOR', value: each => terminal.foreign(each.description), flexible: true },
    ],
    answer.teams,
  )
  return undefined
}

function showTeam({ terminal }: Cli, team: Answer<'get_team'>): undefined {
  if (terminal.json) return void terminal.data(team)
  terminal.print(
    `${terminal.paint('bold', team.name)}${team.paused ? '  paused' : ''}  ${terminal.foreign(team.description)}`,
  )
  terminal.table(
    [
      { title: 'MEMBER', value: each => each.handle },
      { title: 'ROLE', value: each => (each.person === null ? each.role : 'person') },
      { title: 'WORKS FOR', value: each => each.works_for ?? '', extra: true },
      { title: 'AGENT', value: each => each.agent ?? '', extra: true },
      {
        title: 'STATE',
        value: each => each.state.replace('_', ' '),
        paint: (text, each) => inStatusColour(terminal, colourOf(each.state), text),
      },
      {
        title: 'HEALTH',
        value: each => (each.health.state === 'healthy' ? '' : each.health.state),
        paint: (text, each) => inStatusColour(terminal, each.health.state === 'unhealthy' ? 'failed' : 'queued', text),
      },
      { title: 'MAIL', value: each => (each.unread ? String(each.unread) : ''), right: true },
      { title: 'WAITS FOR', value: each => terminal.foreign(each.waits_for ?? ''), flexible: true },
    ],
    team.members,
  )
  for (const { members, waits } of team.circles) {
    terminal.note(`${members.join(', ')} wait for each other:`)
    for (const { text } of waits) terminal.note(`  ${terminal.foreign(text)}`)
  }
  showIll(terminal, team.members)
  return undefined
}

/** The status of a mission that has the same colour. */
const colourOf = (state: string): string => ({ working: 'running', idle: 'draft', paused: 'queued' })[state] ?? state
