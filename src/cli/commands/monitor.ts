import type { Command } from 'commander'
import type { z } from 'zod'
import { InvalidInput } from '../../domain/errors.ts'
import type { monitor as operations } from '../../operations/monitor.ts'
import { type Cli, does } from '../command.ts'
import type { Terminal } from '../terminal.ts'

type Operations = (typeof operations)[number]
type Answer<N extends Operations['name']> = z.infer<Extract<Operations, { name: N }>['output']>
type Status = Answer<'monitor_status'>

export function addMonitor(program: Command): void {
  const monitor = program
    .command('monitor')
    .description('watch the members of a team: how each is, and what is done if one is stuck')
  const on = (name: string, summary: string) =>
    monitor.command(name).description(summary).argument('<team>', 'name or id of the team')
  does(on('start', 'watch the members of a team'), async (cli, [team_id]) => {
    const answer = await cli.ask<Answer<'start_monitor'>>('start_monitor', { team_id })
    cli.terminal.tell(answer, () => cli.terminal.print(startedInWords(answer)))
  })
  does(on('status', 'show how each member is'), async (cli, [team_id]) => {
    showMonitor(cli, await cli.ask<Status>('monitor_status', { team_id }))
  })
  const config = on('config', 'say how long members may show no sign of life, and whether they are watched')
    .option('--member <member>', 'only this member')
    .option('--interval <seconds>', 'how long without a sign of life; auto: by its own rhythm')
    .option('--on', 'watch')
    .option('--off', 'do not watch')
  does(config, async (cli, [team_id], options) => {
    const wanted = { team_id, ...monitorChange(options) }
    showMonitor(cli, await cli.ask<Status>('configure_monitor', wanted))
  })
}

export function monitorChange({ member, interval, on, off }: Record<string, unknown>): object {
  if (on && off) throw new InvalidInput('--off', 'is given, and --on too')
  const seconds = interval === undefined ? undefined : secondsFrom(String(interval))
  return {
    ...(member === undefined ? {} : { member }),
    ...(seconds !== undefined && { quiet_seconds: seconds }),
    ...(on === true || off === true ? { on: on === true } : {}),
  }
}

function secondsFrom(text: string): number | null {
  if (text === 'auto') return null
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new InvalidInput('--interval', 'must be a whole number of seconds, or auto')
}

export function startedInWords({ team, started, since, by }: Answer<'start_monitor'>): string {
  if (started) return `The members of ${team} are watched now.`
  return `The members of ${team} are watched already${since ? `, since ${since}${by ? ` by ${by}` : ''}` : ''}.`
}

function showMonitor({ terminal }: Cli, status: Status): undefined {
  if (terminal.json) return void terminal.data(status)
  const every = status.quiet_seconds === null ? 'by the rhythm of each' : `after ${status.quiet_seconds} s`
  terminal.print(`${terminal.paint('bold', status.team)}  ${status.on ? `watched, ${every}` : 'not watched'}`)
  terminal.table(
    [
      { title: 'MEMBER', value: each => each.handle },
      { title: 'QUIET', value: each => (each.on ? `${each.quiet_seconds} s` : 'not watched') },
      { title: 'HEALTH', value: each => each.health.state },
      { title: 'RESTARTS', value: each => String(each.health.restarts), right: true },
      {
        title: 'SINCE',
        value: each => (each.health.state === 'healthy' ? '' : (each.health.since ?? '')),
        extra: true,
      },
      { title: 'WHY', value: each => terminal.foreign(each.health.reason ?? ''), flexible: true },
    ],
    status.members,
  )
  showIll(terminal, status.members)
  return undefined
}

type Ill = Pick<Status['members'][number], 'handle' | 'health'>

/** For each member that is not well: why, since when, what was done, and what comes next. */
export function showIll(terminal: Terminal, members: readonly Ill[]): void {
  for (const { handle, health } of members) {
    if (health.state === 'healthy') continue
    const done = health.done.map(({ text }) => text).join(' ')
    const next = health.next ?? 'Nothing more is done until it shows signs of life.'
    terminal.note(
      `${handle} is ${health.state} since ${health.since}. ${terminal.foreign(health.reason ?? '')} ${done} ${next}`,
    )
  }
}
