import type { Command } from 'commander'
import type { z } from 'zod'
import type { SpecFlow } from '../../domain/rules/spec-flows.ts'
import type { specs } from '../../operations/specs.ts'
import type { MissionView } from '../../operations/views.ts'
import { type Cli, collected, does, textFrom } from '../command.ts'
import { EXIT } from '../exit.ts'
import { projectHere, projectRef } from '../project-here.ts'
import { untilThereIs } from '../until.ts'
import { followWorkflow, type WorkflowView } from './workflow.ts'

type Answer<N extends (typeof specs)[number]['name']> = z.infer<Extract<(typeof specs)[number], { name: N }>['output']>

const SPEC = 'its name, its number, or letters of its name'

const FLOWS: readonly { flow: SpecFlow; argument: string; about: string; summary: string; roles: string }[] = [
  {
    flow: 'create',
    argument: '<task>',
    about: 'what is wanted; - reads stdin, @file reads a file',
    summary: 'questions first, then a draft, reviewed until it is approved',
    roles: 'drafter,reviewer',
  },
  {
    flow: 'interview',
    argument: '<spec>',
    about: SPEC,
    summary: 'be asked about a specification; the answers become comments in it',
    roles: 'analyst',
  },
  {
    flow: 'revise',
    argument: '<spec>',
    about: SPEC,
    summary: 'work off its comments, reviewed until it is approved',
    roles: 'drafter,reviewer',
  },
  {
    flow: 'execute',
    argument: '[spec]',
    about: `${SPEC} (default: the first that is approved)`,
    summary: 'build an approved one: tests first, then the work, then a check of each criterion',
    roles: 'tester,builder,verifier',
  },
]

export function addSpec(program: Command): void {
  const spec = program.command('spec').description('write, approve and build specifications in design-docs/')
  for (const { flow, argument, about, summary, roles } of FLOWS) {
    const command = spec.command(flow).description(summary).argument(argument, about)
    if (flow === 'create') command.option('--name <words>', 'words for its name (default: those of the task)')
    else command.option('--task <text>', 'what else the agents should know')
    command
      .option('--agents <agents>', `agents of its roles, in this order: ${roles}`, collected)
      .option('--project <project>', 'id, name or path (default: the repository you are in)')
      .option('-f, --follow', 'wait until it ends')
    does(command, async (cli, [given], options) => {
      const words =
        flow === 'create'
          ? { task: await textFrom(cli, given!), spec: options.name }
          : { task: options.task, spec: given }
      const input = { project_id: await projectOf(cli, options), flow, agents: options.agents, ...words }
      const made = await cli.ask<WorkflowView>('start_spec_flow', input)
      if (options.follow) return followWorkflow(cli, made.id)
      cli.terminal.tell(made, () => {
        cli.terminal.print(`Started ${made.name} (${made.id}).`)
        cli.terminal.note(`fleet workflow show ${made.id}; questions are in fleet inbox.`)
      })
      return undefined
    })
  }
  const list = spec
    .command('list')
    .alias('ls')
    .description('list the specifications on the base branch')
    .option('--project <project>', 'id, name or path (default: the repository you are in)')
  does(list, async (cli, _, options) => {
    const answer = await cli.ask<Answer<'list_specs'>>('list_specs', { project_id: await projectOf(cli, options) })
    const { terminal } = cli
    if (terminal.json) return void terminal.data(answer)
    if (!answer.specs.length) return void terminal.note('There are no specifications. Start one: fleet spec create "…"')
    terminal.table(
      [
        { title: 'SPECIFICATION', value: each => each.name },
        { title: 'STATUS', value: each => each.status ?? '' },
        { title: 'CRITERIA', value: each => `${each.criteria.done}/${each.criteria.all}`, right: true },
        { title: 'COMMENTS', value: each => (each.comments.length ? String(each.comments.length) : ''), right: true },
        { title: 'TITLE', value: each => terminal.foreign(each.title), flexible: true },
      ],
      answer.specs,
    )
    return undefined
  })
  const show = spec
    .command('show')
    .description('print a specification as it is on the base branch')
    .argument('<spec>', SPEC)
    .option('--project <project>', 'id, name or path (default: the repository you are in)')
  does(show, async (cli, [name], options) => {
    const found = await cli.ask<Answer<'get_spec'>>('get_spec', {
      project_id: await projectOf(cli, options),
      spec: name,
    })
    cli.terminal.tell(found, () => cli.terminal.print(cli.terminal.foreign(found.text.trimEnd())))
    return undefined
  })
  const approve = spec
    .command('approve')
    .description('approve a draft; from then on it can be built')
    .argument('<spec>', SPEC)
    .option('--project <project>', 'id, name or path (default: the repository you are in)')
  does(approve, async (cli, [name], options) => {
    const input = { project_id: await projectOf(cli, options), spec: name }
    const { id, project_id, title } = await cli.ask<MissionView>('approve_spec', input)
    const client = await cli.client()
    const mission = await untilThereIs(client, project_id, async () => {
      const now = await client.call<MissionView>('get_mission', { mission_id: id })
      return OVER.includes(now.status) ? now : undefined
    })
    const isDone = mission.status === 'done'
    cli.terminal.tell(mission, () =>
      cli.terminal.print(isDone ? `${title}: done.` : `${title}: ${mission.status_reason?.text ?? mission.status}`),
    )
    return isDone ? EXIT.done : EXIT.failed
  })
}

const OVER = ['done', 'failed', 'cancelled', 'review', 'needs_input']

const projectOf = async (cli: Cli, { project }: Record<string, unknown>): Promise<string> =>
  project ? projectRef(cli, String(project)) : (await projectHere(cli)).project.id
