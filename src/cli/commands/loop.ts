import type { Command } from 'commander'
import { shortId } from '../../domain/ids.ts'
import type { LoopView } from '../../operations/loops.ts'
import { safeLine } from '../../platform/safe-text.ts'
import { addFields, type Cli, does, type Field, inputFrom, textFrom } from '../command.ts'
import { EXIT } from '../exit.ts'
import { projectHere, projectRef } from '../project-here.ts'
import { ago, inStatusColour } from '../show.ts'
import { untilThereIs } from '../until.ts'

const FIELDS: readonly Field[] = [
  { flags: '--agent <agent>', field: 'agent', summary: 'agent that plans' },
  { flags: '--model <model>', field: 'model', summary: 'model that plans' },
  { flags: '--rounds <n>', field: 'max_rounds', summary: 'maximum number of rounds (10)', kind: 'number' },
  { flags: '--budget <usd>', field: 'max_budget_usd', summary: 'maximum cost of all its agents', kind: 'number' },
  {
    flags: '--failures <n>',
    field: 'max_failures',
    summary: 'maximum number of rounds in a row without progress (3)',
    kind: 'number',
  },
]

export function addLoop(program: Command): void {
  const loop = program
    .command('loop')
    .description('work towards a goal in rounds of planning and missions until it is reached')
  const start = loop
    .command('start')
    .description('start a loop; the checks of the project decide when the goal is reached')
    .argument('<goal>', 'goal to reach; - reads stdin, @file reads a file')
  addFields(start, FIELDS).option('--scripts', 'allow missions that are shell scripts')
  start.option('--unchecked', 'trust the planner if the project has no checks')
  onProject(start).option(...FOLLOW)
  does(start, async (cli, [goal], options) => {
    const input = {
      ...inputFrom(FIELDS, options),
      unchecked: options.unchecked === true,
      scripts: options.scripts === true,
    }
    return tell(cli, await ask(cli, 'start_loop', options, { ...input, goal: await textFrom(cli, goal!) }), options)
  })
  const status = onProject(loop.command('status').description('show the loop')).option(...FOLLOW)
  does(status, async (cli, _, options) => tell(cli, await ask(cli, 'get_loop', options), options))
  for (const [verb, operation, summary] of [
    ['pause', 'pause_loop', 'pause the loop; running agents continue'],
    ['resume', 'resume_loop', 'resume the loop'],
    ['stop', 'stop_loop', 'stop the loop and its agents; their work is kept'],
  ] as const)
    does(onProject(loop.command(verb).description(summary)), async (cli, _, options) =>
      showLoop(cli, await ask(cli, operation, options)),
    )
  const history = onProject(
    loop.command('history').alias('list').alias('ls').description('list the loops of a project, newest first'),
  )
  does(history, async (cli, _, options) => {
    const answer = await ask<{ loops: LoopView[] }>(cli, 'list_loops', options)
    if (cli.terminal.json) return void cli.terminal.data(answer)
    for (const each of answer.loops) showLoop(cli, each)
    if (answer.loops.length === 0) cli.terminal.print('There are no loops yet. Start one: fleet loop start "<goal>"')
  })
}

const FOLLOW = ['-f, --follow', 'wait until it ends'] as const

/** Shows the state of a loop. With --follow it waits for the end, which is also the exit code. */
async function tell(cli: Cli, loop: LoopView, { follow }: Record<string, unknown>): Promise<number | undefined> {
  if (!follow) return showLoop(cli, loop)
  const { project_id } = loop
  const client = await cli.client()
  const end = await untilThereIs(client, project_id, async () => {
    const now = await client.call<LoopView>('get_loop', { project_id })
    cli.terminal.progress(`round ${now.rounds.length} · waits for ${now.waits_for}`)
    return now.ended_at ? now : undefined
  })
  showLoop(cli, end)
  return end.status === 'complete' ? EXIT.done : end.status === 'stopped' ? EXIT.cancelled : EXIT.failed
}

const onProject = (command: Command): Command =>
  command.option('--project <project>', 'id, name or path (default: the repository you are in)')

async function ask<T = LoopView>(
  cli: Cli,
  operation: string,
  { project }: Record<string, unknown>,
  input: object = {},
): Promise<T> {
  const project_id =
    project === undefined ? (await projectHere(cli)).project.id : await projectRef(cli, String(project))
  return cli.ask<T>(operation, { project_id, ...input })
}

/** `waits_for` and `spent_usd` are missing if there is only the record. */
function showLoop({ terminal }: Cli, loop: Omit<LoopView, 'waits_for' | 'spent_usd'> & Partial<LoopView>): undefined {
  if (terminal.json) return void terminal.data(loop)
  const colour = { complete: 'done', limit: 'failed', stopped: 'cancelled', paused: 'queued' }[loop.status as string]
  terminal.print(
    `Loop ${terminal.paint('bold', shortId(loop.id))}: ${inStatusColour(terminal, colour ?? loop.status, loop.status)}  ${safeLine(loop.goal).slice(0, 80)}`,
  )
  terminal.facts([
    ['because', loop.ending?.text],
    ['waits for', loop.waits_for],
    ['spent', loop.spent_usd ? `$${loop.spent_usd.toFixed(2)}` : ''],
    ['started', ago(loop.created_at)],
  ])
  for (const { number, outcome, text, plan_id } of loop.rounds)
    terminal.print(
      `  ${number}. ${(outcome ?? 'under way').replace('_', ' ')}  ${terminal.foreign(text)}  ${terminal.paint('dim', `plan ${shortId(plan_id)}`)}`,
    )
}
