import { type Command, Option } from 'commander'
import { shortId } from '../../domain/ids.ts'
import { CATCH_UPS, OVERLAPS, type Schedule } from '../../domain/records/schedule.ts'
import { type Cli, does } from '../command.ts'
import { projectRef } from '../project-here.ts'

type ScheduleView = Schedule & { title: string; next_times: string[] }

const TEMPLATE = '<template>'
const TEMPLATE_SUMMARY = 'the mission or workflow to copy: id or first letters'

export function addSchedule(program: Command): void {
  const schedule = program.command('schedule').description('run missions and workflows on a cron schedule')

  const set = schedule
    .command('set')
    .description('create or replace the schedule of a mission or workflow')
    .argument(TEMPLATE, TEMPLATE_SUMMARY)
    .argument('<cron>', 'five fields such as "30 6 * * 1-5", or a name such as @daily')
  addOptions(set).option('--workflow', 'the id is of a workflow')
  does(set, async (cli, [template, cron], options) => {
    const [operation, field] = options.workflow
      ? (['schedule_workflow', 'workflow_id'] as const)
      : (['schedule_mission', 'mission_id'] as const)
    tell(cli, await cli.ask<ScheduleView>(operation, { [field]: template, cron, ...settingsIn(options) }))
  })

  const list = schedule
    .command('list')
    .alias('ls')
    .description('list schedules with the next five times of each')
    .option('--project <project>', 'only this project: id, name or path')
  does(list, async (cli, _, { project }) => {
    const project_id = project === undefined ? undefined : await projectRef(cli, String(project))
    const answer = await cli.ask<{ schedules: ScheduleView[] }>('list_schedules', { project_id })
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
        .description(enabled ? 'enable a schedule' : 'disable a schedule; missions it created continue')
        .argument(TEMPLATE, TEMPLATE_SUMMARY),
      async (cli, [id]) => {
        tell(cli, await cli.ask<ScheduleView>('update_schedule', { schedule_id: id, enabled }))
      },
    )
  }

  does(
    schedule
      .command('run')
      .description('run it now, or as soon as the previous run has ended')
      .argument(TEMPLATE, TEMPLATE_SUMMARY),
    async (cli, [id]) => {
      tell(cli, await cli.ask<ScheduleView>('run_schedule', { schedule_id: id }))
    },
  )

  does(
    schedule
      .command('remove')
      .alias('rm')
      .description('delete a schedule; missions it created stay')
      .argument(TEMPLATE, TEMPLATE_SUMMARY),
    async (cli, [id]) => {
      const answer = await cli.ask<{ removed: string }>('remove_schedule', { schedule_id: id })
      cli.terminal.tell(answer, () => cli.terminal.print(`Removed the schedule of ${shortId(answer.removed)}.`))
    },
  )
}

const addOptions = (command: Command): Command =>
  command
    .option('--time-zone <zone>', 'such as Europe/Berlin (default: the time zone of the server)')
    .addOption(new Option('--overlap <policy>', 'what to do if the last copy is still running').choices(OVERLAPS))
    .addOption(
      new Option('--catch-up <policy>', 'what to do about times that passed while no server ran').choices(CATCH_UPS),
    )
    .option('--disabled', 'create it disabled')

const settingsIn = ({ timeZone, overlap, catchUp, disabled }: Record<string, unknown>): object => ({
  time_zone: timeZone,
  overlap,
  catch_up: catchUp,
  ...(disabled === true && { enabled: false }),
})

function tell(cli: Cli, schedule: ScheduleView): void {
  cli.terminal.tell(schedule, () => show(cli, schedule))
}

function show({ terminal }: Cli, each: ScheduleView): void {
  const state = each.enabled ? '' : `  ${each.problem ? `switched off: ${each.problem}` : 'switched off'}`
  terminal.headline(shortId(each.id), each.title, state)
  terminal.note(`  ${each.cron} in ${each.time_zone}; ${each.made} copies made, ${each.skipped} skipped`)
  if (each.waiting.length) terminal.note(`  ${each.waiting.length} waiting: made now, or once the last copy is over`)
  for (const time of each.next_times) terminal.note(`  next ${inZone(time, each.time_zone)}`)
}

const inZone = (time: string, timeZone: string): string =>
  new Date(time).toLocaleString('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'short' })
