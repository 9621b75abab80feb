import { type Command, Option } from 'commander'
import { shortId } from '../../domain/ids.ts'
import { CATCH_UPS, OVERLAPS, type Schedule } from '../../domain/records/schedule.ts'
import { type Cli, does } from '../command.ts'
import { projectRef } from '../project-here.ts'

type ScheduleView = Schedule & { title: string; next_times: string[] }

const TEMPLATE = '<template>'
const TEMPLATE_SUMMARY = 'the mission or workflow it copies: its id, or the first letters of it'

export function addSchedule(program: Command): void {
  const schedule = program
    .command('schedule')
    .description('do a mission or a workflow again and again, as a cron rule says')

  const set = schedule
    .command('set')
    .description('set or replace the rule of a mission, or of a workflow')
    .argument(TEMPLATE, TEMPLATE_SUMMARY)
    .argument('<cron>', 'five fields such as "30 6 * * 1-5", or a name such as @daily')
  addOptions(set).option('--workflow', 'the template is a workflow')
  does(set, async (cli, [template, cron], options) => {
    const [operation, field] = options.workflow
      ? (['schedule_workflow', 'workflow_id'] as const)
      : (['schedule_mission', 'mission_id'] as const)
    tell(cli, await ask(cli, operation, { [field]: template, cron, ...settingsIn(options) }))
  })

  const list = schedule
    .command('list')
    .alias('ls')
    .description('list schedules with the next five times of each')
    .option('--project <project>', 'only of this project: id, name or path')
  does(list, async (cli, _, { project }) => {
    const project_id = project === undefined ? undefined : await projectRef(cli, String(project))
    const answer = await (await cli.client()).call<{ schedules: ScheduleView[] }>('list_schedules', { project_id })
    if (cli.terminal.json) return void cli.terminal.data(answer)
    for (const each of answer.schedules) show(cli, each)
    if (answer.schedules.length === 0) cli.terminal.print('There are no schedules. Make one: fleet schedule set')
  })

  for (const [verb, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    does(
      schedule
        .command(verb)
        .description(enabled ? 'switch it on again' : 'switch it off; what was made goes on')
        .argument(TEMPLATE, TEMPLATE_SUMMARY),
      async (cli, [id]) => {
        tell(cli, await ask(cli, 'update_schedule', { schedule_id: id, enabled }))
      },
    )
  }

  does(
    schedule
      .command('run')
      .description('make a copy now; if the last one is still at work, once that is over')
      .argument(TEMPLATE, TEMPLATE_SUMMARY),
    async (cli, [id]) => {
      tell(cli, await ask(cli, 'run_schedule', { schedule_id: id }))
    },
  )

  does(
    schedule
      .command('remove')
      .alias('rm')
      .description('take the rule away; copies already made stay')
      .argument(TEMPLATE, TEMPLATE_SUMMARY),
    async (cli, [id]) => {
      const answer = await (await cli.client()).call<{ removed: string }>('remove_schedule', { schedule_id: id })
      if (cli.terminal.json) cli.terminal.data(answer)
      else cli.terminal.print(`${shortId(answer.removed)} has no schedule any more.`)
    },
  )
}

const addOptions = (command: Command): Command =>
  command
    .option('--time-zone <zone>', 'such as Europe/Berlin (default: that of the machine the fleet runs on)')
    .addOption(new Option('--overlap <policy>', 'when the last copy is still at work').choices(OVERLAPS))
    .addOption(new Option('--catch-up <policy>', 'for times that passed while no server ran').choices(CATCH_UPS))
    .option('--disabled', 'switched off for now')

const settingsIn = ({ timeZone, overlap, catchUp, disabled }: Record<string, unknown>): object => ({
  time_zone: timeZone,
  overlap,
  catch_up: catchUp,
  ...(disabled === true && { enabled: false }),
})

const ask = async (cli: Cli, operation: string, input: object): Promise<ScheduleView> =>
  (await cli.client()).call<ScheduleView>(operation, input)

function tell(cli: Cli, schedule: ScheduleView): void {
  if (cli.terminal.json) cli.terminal.data(schedule)
  else show(cli, schedule)
}

function show({ terminal }: Cli, each: ScheduleView): void {
  const state = each.enabled ? '' : `  ${each.problem ? `switched off: ${each.problem}` : 'switched off'}`
  terminal.print(`${terminal.paint('bold', shortId(each.id))}  ${terminal.foreign(`${each.title}${state}`)}`)
  terminal.note(`  ${each.cron} in ${each.time_zone}; made ${each.made}, skipped ${each.skipped}`)
  if (each.waiting.length) terminal.note(`  ${each.waiting.length} to be made: now, or once the last one is over`)
  for (const time of each.next_times) terminal.note(`  next ${inZone(time, each.time_zone)}`)
}

const inZone = (time: string, timeZone: string): string =>
  new Date(time).toLocaleString('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'short' })
