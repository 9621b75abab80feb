import { which } from '../agents/detect.ts'
import { answers, silentDaemon } from '../daemon/running.ts'
import { shortId } from '../domain/ids.ts'
import type { Fault } from '../domain/records/fault.ts'
import type { ProviderWindow } from '../domain/records/fleet.ts'
import { STATUSES } from '../domain/records/mission.ts'
import { retryingInWords } from '../domain/rules/retrying.ts'
import type { MissionView, SessionView } from '../operations/views.ts'
import type { Cli } from './command.ts'
import { EXIT } from './exit.ts'
import { namedServer } from './server.ts'
import { ago, counted, duration, size, windowsInWords } from './show.ts'

interface Servers {
  decider: { server: string; url: string | null; since: string | null } | null
  servers: {
    host: string
    pid: number
    url: string | null
    version: string
    since: string
    heard_ms_ago: number
    decides: boolean
  }[]
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
  /** Absent: a server of an earlier version answered. */
  engine?: string
  /** Absent or null: the store is not shared. */
  servers?: Servers | null
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
    return `${terminal.paint('yellow', 'The fleet is down')}. It starts with the next fleet run, or with fleet up --detach.`
  const id = `(process ${server.pid}, version ${server.version})`
  if (state === 'up') return `${terminal.paint('green', 'The fleet is up')} at ${server.url} ${id}`
  if (state === 'starting') return `${terminal.paint('yellow', 'The fleet is starting')} ${id}`
  const { message, hint } = silentDaemon(server)
  return `${terminal.paint('red', message)} ${hint}`
}

export async function showStatus(cli: Cli): Promise<number> {
  const { terminal } = cli
  const status = await cli.ask<Status>('system_status', {})
  const state = await lookAtServer(cli, status.server)
  if (terminal.json)
    terminal.data({ ...status, server: status.server && { ...status.server, answers: state === 'up' } })
  else {
    terminal.print(serverLine(cli, state, status.server))
    await sayStatus(cli, status)
    await sayNext(cli, status)
  }
  return state === 'silent' ? EXIT.unreachable : EXIT.done
}

async function sayStatus(cli: Cli, status: Status): Promise<void> {
  const { terminal } = cli
  const { disk } = status
  const here = status.live_sessions.filter(each => !each.elsewhere)
  const elsewhere = status.live_sessions.filter(each => each.elsewhere)
  const now = new Date().toISOString()
  const counts = STATUSES.filter(each => status.missions[each]).map(
    each => `${status.missions[each]} ${each.replace('_', ' ')}`,
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
  terminal.facts([
    ['Home', status.home],
    // SQLite is in the home, and nothing that one has to think of.
    ['Store', status.engine === 'postgresql' ? 'PostgreSQL' : ''],
    ['Decides', status.servers ? deciderInWords(status.servers) : ''],
    ['Missions', counts.join(', ') || 'none'],
    ['For you', status.needs_you ? `${status.needs_you}: fleet inbox` : ''],
    ['Agents', `${here.length} of ${status.max_concurrent} running`],
    ['Disk', diskInWords(disk)],
    ...status.providers.map(({ id, held_until, windows }): [string, string] => [
      id,
      [held_until && held_until > now && `nothing new before ${held_until}`, ...windowsInWords(windows, now)]
        .filter(Boolean)
        .join(', '),
    ]),
  ])
  for (const [host, there] of Map.groupBy(elsewhere, each => each.host))
    terminal.print(
      `${terminal.paint('yellow', `On host ${host}`)}: ${there.length === 1 ? '1 session' : `${there.length} sessions`}, left alone here. If that machine is gone for good: fleet host claim ${host}`,
    )
  if (status.servers && status.servers.servers.length > 1) sayServers(cli, status.servers.servers)
  if (!status.live_sessions.length) return
  const titles = await titlesOf(cli, status.live_sessions)
  terminal.print()
  terminal.table<SessionView>(
    [
      { title: 'ID', value: each => shortId(each.mission_id) },
      { title: 'MISSION', value: each => titles.get(each.mission_id) ?? '', flexible: true },
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

const deciderInWords = ({ decider }: Servers): string =>
  decider
    ? `${decider.server}${decider.since ? `, for ${duration(Date.now() - Date.parse(decider.since))}` : ''}`
    : 'no server at this moment: nothing new starts'

function sayServers({ terminal }: Cli, servers: Servers['servers']): void {
  terminal.print()
  terminal.table<Servers['servers'][number]>(
    [
      { title: 'SERVER', value: each => `${each.url ?? each.host} (process ${each.pid})`, flexible: true },
      { title: 'VERSION', value: each => each.version },
      { title: 'ROLE', value: each => (each.decides ? 'decides' : 'answers') },
      { title: 'FOR', value: each => duration(Date.now() - Date.parse(each.since)), right: true },
      { title: 'HEARD OF', value: each => `${(each.heard_ms_ago / 1000).toFixed(1)} s ago`, right: true },
    ],
    servers,
  )
}

async function titlesOf(cli: Cli, sessions: readonly SessionView[]): Promise<Map<string, string>> {
  const ids = [...new Set(sessions.map(({ mission_id }) => mission_id))].slice(0, 500)
  const { missions } = await cli.ask<{ missions: MissionView[] }>('list_missions', { ids, limit: ids.length })
  return new Map(missions.map(({ id, title }) => [id, title]))
}

/** What a person would do now, the most useful first. */
async function sayNext({ terminal, where }: Cli, { missions, needs_you, live_sessions }: Status): Promise<void> {
  const [first] = live_sessions
  const isNew = !STATUSES.some(status => missions[status])
  const next: [string, string][] = [
    ...(needs_you ? [['fleet inbox', 'see what waits for you'] as [string, string]] : []),
    ...(first ? [[`fleet logs -f ${shortId(first.mission_id)}`, 'watch an agent at work'] as [string, string]] : []),
    ['fleet run "<task>"', 'start an agent in the repository you are in'],
    isNew ? ['fleet demo', 'make a sample project, without a coding agent'] : ['fleet list', 'list all missions'],
    ['fleet open', 'open the dashboard in your browser'],
    ['fleet --help', 'list all commands'],
  ]
  terminal.print()
  terminal.print(terminal.paint('bold', 'Next'))
  const width = Math.max(...next.map(([command]) => command.length))
  for (const [command, what] of next) terminal.print(`  ${command.padEnd(width)}  ${terminal.paint('dim', what)}`)
  if (!(await which('fleet', where.env)))
    terminal.note(`\nfleet is not on your PATH yet. In this shell: alias fleet='${process.argv[1]}'`)
}

function diskInWords({ measured_at, ...disk }: Status['disk']): string {
  const free = `${size(disk.free_bytes)} free, ${counted(disk.worktrees, 'worktree')}`
  if (!measured_at) return free
  const warm = disk.warm ? [`${disk.warm} warm (${size(disk.warm_bytes)})`] : []
  const age = Date.now() - Date.parse(measured_at)
  const old = age > OLD_MS ? [`measured ${ago(measured_at)}`] : []
  const used = `${free} (${size(disk.worktree_bytes)})`
  return [used, ...warm, `transcripts ${size(disk.transcript_bytes)}`, ...old].join(', ')
}
const OLD_MS = 60_000
