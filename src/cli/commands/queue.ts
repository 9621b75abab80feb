import { setTimeout as pause } from 'node:timers/promises'
import type { Command } from 'commander'
import { shortId } from '../../domain/ids.ts'
import type { Context } from '../../domain/records/session.ts'
import { safeLine } from '../../platform/safe-text.ts'
import { type Cli, countFrom, does } from '../command.ts'
import { LiveTable } from '../live-table.ts'
import { duration } from '../show.ts'
import { describeMission, type Missions, tellMissions } from '../show-mission.ts'
import type { Column } from '../table.ts'
import { untilInterrupted } from '../until.ts'

const LOOK_EVERY_MS = 1000

/** Queued and running missions of all repositories, from any folder. */
export function addQueue(program: Command): void {
  const ready = program
    .command('ready')
    .description('list the missions that can start now, in order')
    .option('--limit <n>', 'maximum number', countFrom, 50)
  does(ready, async (cli, _, { limit }) => {
    const answer = await cli.ask<Missions>('list_ready', { limit })
    return tellMissions(cli, answer, 'Nothing is ready to start. Add something: fleet task add "<title>"')
  })

  const show = program
    .command('show')
    .description('show a mission: state, settings, sessions, report and checks')
    .argument('<mission>', 'id or first letters')
    .option('--checks', 'include the full output of its checks')
  does(show, (cli, [id], { checks }) => describeMission(cli, id!, { checks: checks === true }))

  const tasks = program
    .command('tasks')
    .description('watch running missions of all projects until Ctrl-C; in a pipe, print them once')
    .option('--limit <n>', 'maximum number', countFrom, 20)
  does(tasks, watchTasks)
}

interface Task {
  mission_id: string
  title: string
  project: string
  started_at: string
  last_at: string | null
  events: number
  context: Context | null
  agent: string
  model: string | null
  set: string[]
}

async function watchTasks(cli: Cli, _: string[], { limit }: Record<string, unknown>): Promise<undefined> {
  const { terminal } = cli
  const client = await cli.client()
  const look = (): Promise<{ tasks: Task[]; more: number }> => client.call('list_running', { limit })
  if (terminal.json) return void terminal.data(await look())
  const columns = columnsFor(cli)
  if (!terminal.interactive) return void terminal.table(columns, (await look()).tasks)
  const leaving = untilInterrupted()
  const live = new LiveTable(terminal, columns)
  while (!leaving.aborted) {
    const { tasks, more } = await look()
    live.show(tasks, tasks.length ? more && `and ${more} more` : 'Nothing is running.')
    await pause(LOOK_EVERY_MS, undefined, { signal: leaving }).catch(() => {})
  }
}

const since = (time: string | null): string => (time ? duration(Date.now() - Date.parse(time)) : '')

function columnsFor({ terminal }: Cli): Column<Task>[] {
  const inherited = (field: string) => (text: string, task: Task) =>
    terminal.paint(task.set.includes(field) ? 'bold' : 'dim', text)
  const share =
    (of: 'used_tokens' | 'peak_tokens') =>
    ({ context }: Task) => {
      if (!context) return ''
      return context.window_tokens ? `${Math.round((context[of] * 100) / context.window_tokens)}%` : String(context[of])
    }
  return [
    { title: 'ID', value: each => shortId(each.mission_id) },
    { title: 'STARTED', value: each => new Date(each.started_at).toTimeString().slice(0, 8), extra: true },
    { title: 'ELAPSED', value: each => since(each.started_at), right: true },
    { title: 'IDLE', value: each => since(each.last_at), right: true },
    { title: 'CONTEXT', value: share('used_tokens'), right: true },
    { title: 'PEAK', value: share('peak_tokens'), right: true, extra: true },
    { title: 'EVENTS', value: each => String(each.events), right: true, extra: true },
    { title: 'AGENT', value: each => each.agent, paint: inherited('agent') },
    { title: 'MODEL', value: each => each.model ?? '', paint: inherited('model'), flexible: true },
    { title: 'TITLE', value: each => safeLine(each.title), flexible: true },
    { title: 'REPOSITORY', value: each => safeLine(each.project), flexible: true },
  ]
}
