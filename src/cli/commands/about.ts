import { type Command, InvalidArgumentError } from 'commander'
import { answers, silentDaemon } from '../../daemon/running.ts'
import { shortId } from '../../domain/ids.ts'
import type { Fault } from '../../domain/records/fault.ts'
import type { ProviderWindow } from '../../domain/records/fleet.ts'
import { STATUSES } from '../../domain/records/mission.ts'
import { drivenName, type Engine, TOOL_PRESETS } from '../../domain/records/project.ts'
import { retryingInWords } from '../../domain/rules/retrying.ts'
import type { SessionView } from '../../operations/views.ts'
import { type Cli, does } from '../command.ts'
import { EXIT } from '../exit.ts'
import { projectRef } from '../project-here.ts'
import { namedServer } from '../server.ts'
import { ago, duration, inStatusColour, size } from '../show.ts'

export function addAbout(program: Command): void {
  does(
    program.command('status').description('show the state of the fleet: running, waiting, capacity and disk'),
    showStatus,
  )

  const doctor = program
    .command('doctor')
    .description('check this machine: git, Node, disk, store, agents')
    .option('--repair', 'rebuild the indexes of the store first; the fleet must be down')
    .option('--retry', 'retry now everything the fleet is stuck on')
  does(doctor, async (cli, _, options) => {
    const { examine, repairStore } = await import('../doctor.ts')
    if (options.repair) repairStore(cli.where)
    if (options.retry) await cli.ask('retry_faults', {})
    const findings = await examine(cli.where)
    if (cli.terminal.json) cli.terminal.data({ findings })
    else {
      for (const { name, state, text, advice } of findings) {
        const mark =
          state === 'good'
            ? cli.terminal.paint('green', '✓')
            : cli.terminal.paint(state === 'bad' ? 'red' : 'yellow', state === 'bad' ? '✗' : '!')
        cli.terminal.print(`${mark} ${name.padEnd(12)} ${cli.terminal.foreign(text)}`)
        if (advice) cli.terminal.print(`  ${' '.repeat(12)} ${cli.terminal.paint('dim', cli.terminal.foreign(advice))}`)
      }
    }
    return findings.some(finding => finding.state === 'bad') ? EXIT.failed : EXIT.done
  })

  const agents = program
    .command('agents')
    .description('list the coding agents on this machine and what each can do')
    .option('--refresh', 'ask the clients for their models again')
  does(agents, showAgents)

  const costs = program
    .command('costs')
    .description('show tokens and cost by day, project and agent')
    .option('--days <n>', 'number of days to show', Number, 7)
  does(costs, showCosts)

  for (const name of ['pause', 'unpause'] as const) {
    const summary = name === 'pause' ? 'start no new missions; running agents continue' : 'let missions start again'
    does(
      program.command(name).description(summary).argument('[project]', 'id, name or path (default: the whole fleet)'),
      async (cli, [project]) => {
        const answer = await cli.ask<{ paused: boolean }>(
          name,
          project ? { project_id: await projectRef(cli, project) } : {},
        )
        if (cli.terminal.json) cli.terminal.data(answer)
        else
          cli.terminal.print(
            `${project ? `Project ${project}` : 'The fleet'} is ${answer.paused ? 'paused' : 'no longer paused'}.`,
          )
      },
    )
  }

  const clean = program
    .command('clean')
    .description('remove worktrees of ended sessions; their work stays in the repository as a ref')
    .option('--older-than <age>', 'only sessions that ended at least this long ago, such as 90m, 12h or 7d', hoursFrom)
    .option('--dry-run', 'show what would be removed and remove nothing')
    .option('--warm', 'also remove the worktrees that wait for the next mission')
  does(clean, showCleaning)
}

interface Spent {
  day: string
  project_id: string
  agent: string
  model: string | null
  sessions: number
  input_tokens: number
  output_tokens: number
  reasoning_tokens: number
  cache_read_tokens: number
  cost_usd: number
}

async function showCosts(cli: Cli, _args: string[], options: Record<string, unknown>): Promise<undefined> {
  const { terminal } = cli
  const client = await cli.client()
  const answer = await client.call<{ spending: Spent[] }>('list_spending', { days: options.days })
  if (terminal.json) return void terminal.data(answer)
  if (answer.spending.length === 0) return void terminal.print('No usage in this period.')
  const { projects } = await client.call<{ projects: { id: string; name: string }[] }>('list_projects', { limit: 500 })
  const names = new Map(projects.map(({ id, name }) => [id, name]))
  terminal.table(
    [
      { title: 'DAY', value: row => row.day },
      {
        title: 'PROJECT',
        value: row => terminal.foreign(names.get(row.project_id) ?? shortId(row.project_id)),
        flexible: true,
      },
      { title: 'AGENT', value: row => terminal.foreign(row.agent) },
      { title: 'MODEL', value: row => terminal.foreign(row.model ?? '') },
      { title: 'SESSIONS', value: row => String(row.sessions), right: true },
      { title: 'IN', value: row => String(row.input_tokens + row.cache_read_tokens), right: true },
      { title: 'OUT', value: row => String(row.output_tokens), right: true },
      { title: 'THOUGHT', value: row => String(row.reasoning_tokens), right: true },
      { title: 'COST', value: row => `$${row.cost_usd.toFixed(2)}`, right: true },
    ],
    answer.spending,
  )
  const total = answer.spending.reduce((sum, row) => sum + row.cost_usd, 0)
  terminal.print(`Total: $${total.toFixed(2)}. Models without a price are counted in tokens only.`)
}

const HOURS: Record<string, number> = { m: 1 / 60, h: 1, d: 24, w: 168 }

export function hoursFrom(text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)([mhdw]?)$/.exec(text) ?? []
  if (number === undefined) throw new InvalidArgumentError('It must be a number with m, h, d or w, such as 12h.')
  return Number(number) * (HOURS[unit || 'h'] ?? 1)
}

interface Status {
  version: string
  server: { pid: number; url: string | null; version: string } | null
  home: string
  paused: boolean
  missions: Record<string, number>
  needs_you: number
  live_sessions: SessionView[]
  max_concurrent: number
  settings_problem: string | null
  faults: Fault[]
  providers: { id: string; held_until: string | null; windows: ProviderWindow[] }[]
  disk: {
    free_bytes: number
    worktrees: number
    worktree_bytes: number
    warm: number
    warm_bytes: number
    transcript_bytes: number
    measured_at: string | null
  }
}

/** The state of the server of a home. A named server is asked itself, so its answer is proof. */
async function lookAtServer({ where }: Cli, server: Status['server']): Promise<'down' | 'starting' | 'up' | 'silent'> {
  if (!server) return 'down'
  if (!server.url) return 'starting'
  return namedServer(where) || (await answers(server.url)) ? 'up' : 'silent'
}

function serverLine({ terminal }: Cli, state: string, server: Status['server']): string {
  if (!server)
    return `${terminal.paint('yellow', 'The fleet is down')}: nothing is dispatched. Start it: fleet up --detach`
  const id = `(process ${server.pid}, version ${server.version})`
  if (state === 'up') return `${terminal.paint('green', 'The fleet is up')} at ${server.url} ${id}`
  if (state === 'starting') return `${terminal.paint('yellow', 'The fleet is starting')} ${id}`
  const { message, hint } = silentDaemon(server)
  return `${terminal.paint('red', message)} ${hint}`
}

async function showStatus(cli: Cli): Promise<number> {
  const { terminal } = cli
  const status = await cli.ask<Status>('system_status', {})
  const state = await lookAtServer(cli, status.server)
  if (terminal.json)
    terminal.data({ ...status, server: status.server && { ...status.server, answers: state === 'up' } })
  else {
    terminal.print(serverLine(cli, state, status.server))
    sayStatus(cli, status)
  }
  return state === 'silent' ? EXIT.unreachable : EXIT.done
}

function sayStatus({ terminal }: Cli, status: Status): void {
  const { disk } = status
  const here = status.live_sessions.filter(each => !each.elsewhere)
  const elsewhere = status.live_sessions.filter(each => each.elsewhere)
  const now = new Date().toISOString()
  const counts = STATUSES.filter(each => status.missions[each]).map(each =>
    inStatusColour(terminal, each, `${status.missions[each]} ${each.replace('_', ' ')}`),
  )
  if (status.paused)
    terminal.print(`${terminal.paint('yellow', 'It is paused')}: no new missions start. Continue: fleet unpause`)
  if (status.settings_problem)
    terminal.print(
      `${terminal.paint('yellow', 'fleet.toml is not applied')}; the previous settings stay in effect. ${terminal.foreign(status.settings_problem)}`,
    )
  for (const { reactor, record, reason, tries, next_try_at } of status.faults)
    terminal.print(
      `${terminal.paint('yellow', `Stuck: ${reactor}`)}${record ? `, ${record}` : ''}: ${terminal.foreign(reason)} Tried ${tries === 1 ? 'once' : `${tries} times`}, next at ${next_try_at}; now: fleet doctor --retry`,
    )
  terminal.facts([['home', status.home]])
  terminal.print(`${terminal.paint('dim', 'missions')}  ${counts.join(', ') || 'none'}`)
  if (status.needs_you)
    terminal.print(
      `${terminal.paint('dim', 'for you')}   ${terminal.paint('yellow', String(status.needs_you))}: fleet inbox`,
    )
  terminal.facts([
    ['agents', `${here.length} of ${status.max_concurrent} running`],
    ['disk', diskInWords(disk)],
  ])
  terminal.facts(
    status.providers.map(({ id, held_until, windows }): [string, string] => [
      id,
      [held_until && held_until > now && `nothing new before ${held_until}`, ...windowsInWords(windows, now)]
        .filter(Boolean)
        .join(', '),
    ]),
  )
  for (const [host, there] of Map.groupBy(elsewhere, each => each.host))
    terminal.print(
      `${terminal.paint('yellow', `On host ${host}`)}: ${there.length === 1 ? '1 session' : `${there.length} sessions`}, left alone here. If that machine is gone for good: fleet host claim ${host}`,
    )
  if (!status.live_sessions.length) return
  terminal.print()
  terminal.table<SessionView>(
    [
      { title: 'SESSION', value: each => shortId(each.id) },
      { title: 'MISSION', value: each => shortId(each.mission_id) },
      { title: 'AGENT', value: each => each.agent },
      { title: 'STATUS', value: each => each.status },
      {
        title: 'FOR',
        value: each => duration(Date.now() - Date.parse(each.started_at ?? each.created_at)),
        right: true,
      },
      {
        title: 'BECAUSE',
        value: ({ retrying, elsewhere, host }) =>
          elsewhere ? `on host ${host}` : retrying ? retryingInWords(retrying, now) : '',
        flexible: true,
        paint: text => terminal.paint('dim', text),
      },
    ],
    status.live_sessions,
  )
}

function diskInWords({ measured_at, ...disk }: Status['disk']): string {
  const free = `${size(disk.free_bytes)} free, ${disk.worktrees} worktrees`
  if (!measured_at) return free
  const warm = disk.warm ? [`${disk.warm} warm (${size(disk.warm_bytes)})`] : []
  const age = Date.now() - Date.parse(measured_at)
  const old = age > OLD_MS ? [`measured ${ago(measured_at)}`] : []
  const used = `${free} (${size(disk.worktree_bytes)})`
  return [used, ...warm, `transcripts ${size(disk.transcript_bytes)}`, ...old].join(', ')
}
const OLD_MS = 60_000

const windowsInWords = (windows: readonly ProviderWindow[], now: string): string[] =>
  windows
    .filter(({ resets_at }) => resets_at === null || resets_at > now)
    .map(each => `${each.name} ${each.used_percent} % used${each.resets_at ? ` until ${each.resets_at}` : ''}`)

interface Agents {
  agents: {
    name: string
    engine: Engine
    title: string
    installed: boolean
    version?: string
    signed_in?: boolean
    advice?: string
    plugin?: string
    models: unknown[]
    can: Record<string, unknown> & { presets: string[]; sandboxed: string[] }
    windows: ProviderWindow[]
  }[]
  sandbox: { works: boolean; problem?: string; advice?: string }
}

async function showAgents(cli: Cli, _: string[], { refresh }: Record<string, unknown>): Promise<undefined> {
  const { terminal } = cli
  if (refresh) {
    terminal.progress('Asking the clients for their models…')
    await cli.ask('refresh_models', {})
    terminal.progress('')
  }
  const answer = await cli.ask<Agents>('list_agents', {})
  if (terminal.json) return void terminal.data(answer)
  terminal.table<Agents['agents'][number]>(
    [
      { title: 'AGENT', value: agentName },
      { title: '', value: each => each.title, flexible: true },
      {
        title: 'FOUND',
        value: each => (each.installed ? (each.version ?? 'yes') : 'no'),
        paint: (text, each) => terminal.paint(each.installed ? 'green' : 'dim', text),
      },
      { title: 'SIGNED IN', value: each => (each.signed_in === undefined ? '' : each.signed_in ? 'yes' : 'no') },
      { title: 'MODELS', value: each => String(each.models.length || ''), right: true },
      { title: 'RESUMES', value: each => (each.can.resume ? 'yes' : 'no') },
      { title: 'MCP', value: each => (each.can.mcp === 'stdio' ? 'through a bridge' : String(each.can.mcp)) },
      { title: 'PRESETS', value: each => presets(each.can.presets) },
      {
        title: 'PRESETS IN THE SANDBOX',
        value: each => (answer.sandbox.works ? presets(each.can.sandboxed) : 'no sandbox'),
      },
      { title: 'SURVIVES A RESTART', value: each => (each.can.adopted ? 'yes' : 'no: it is resumed') },
    ],
    answer.agents,
  )
  const { works, problem, advice: mending } = answer.sandbox
  if (!works) terminal.note(`sandbox: ${problem} ${mending}`)
  const now = new Date().toISOString()
  for (const each of answer.agents) {
    const used = windowsInWords(each.windows, now).join(', ')
    const origin =
      each.plugin &&
      `code of the plugin ${each.plugin}, which is trusted: it runs as you, and the fleet believes what it reports`
    for (const note of [each.advice, origin, used])
      if (note) terminal.note(terminal.foreign(`${agentName(each)}: ${note}`))
  }
}

const agentName = ({ name, engine }: Agents['agents'][number]): string => drivenName(name, engine)

const presets = (names: readonly string[]): string =>
  names.length === TOOL_PRESETS.length ? 'every preset' : names.join(' ') || 'none'

export interface Cleaned {
  freed_bytes: number
  /** Absent: a server of an earlier version answered. */
  freed?: { worktrees: number; warm: number }
  worktrees: {
    session_id: string
    mission_id: string
    path: string
    bytes: number
    ref: string
    kept_because?: string
    ends?: string[]
  }[]
}

async function showCleaning(cli: Cli, _: string[], options: Record<string, unknown>): Promise<undefined> {
  const { terminal } = cli
  const dryRun = options.dryRun === true
  terminal.progress('Looking at worktrees…')
  const answer = await cli.ask<Cleaned>('clean', {
    older_than_hours: options.olderThan,
    dry_run: dryRun,
    ...(options.warm === true && { warm: true }),
  })
  terminal.progress('')
  if (terminal.json) return void terminal.data(answer)
  if (answer.worktrees.length) {
    terminal.table<Cleaned['worktrees'][number]>(
      [
        { title: 'MISSION', value: each => shortId(each.mission_id) },
        { title: 'SIZE', value: each => size(each.bytes), right: true },
        { title: 'WORKTREE', value: each => each.path, flexible: true },
        {
          title: 'KEPT AS',
          value: each =>
            each.kept_because
              ? `not removed: ${each.kept_because}`
              : [each.ref, ...(each.ends ?? []).map(kind => `(its ${kind} ends)`)].join(' '),
          flexible: true,
        },
      ],
      answer.worktrees,
    )
  }
  const kinds = [
    ['worktrees', answer.freed?.worktrees],
    ['warm worktrees', answer.freed?.warm],
  ] as const
  const parts = kinds.flatMap(([kind, bytes]) => (bytes ? [`${kind} ${size(bytes)}`] : []))
  const each = parts.length > 1 ? `: ${parts.join(', ')}` : ''
  terminal.print(`${dryRun ? 'Would free' : 'Freed'} ${size(answer.freed_bytes)}${each}.`)
}
