import { mkdir, mkdtemp, realpath, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startInBackground } from '../daemon/background.ts'
import { withoutSession } from '../daemon/environment.ts'
import { runningServer } from '../daemon/running.ts'
import { stopServer } from '../daemon/stop.ts'
import { shortId } from '../domain/ids.ts'
import type { Event } from '../domain/records/event.ts'
import type { Project } from '../domain/records/project.ts'
import { gitText } from '../git/run.ts'
import type { MissionView } from '../operations/views.ts'
import { openHome } from '../platform/home.ts'
import { connect } from './client.ts'
import type { Cli } from './command.ts'
import { type DemoMission, demoMissions } from './demo-missions.ts'
import { EXIT } from './exit.ts'
import { LiveTable } from './live-table.ts'
import type { Client, Where } from './server.ts'
import { because, inStatusColour, standing } from './show.ts'
import type { Column } from './table.ts'

/** The events after which a mission may be over, and the states in which it is. */
const ENDS = [
  'landed',
  'kept',
  'no_changes',
  'failed',
  'cancelled',
  'review_wanted',
  'needs_input',
  'conflict',
  'landing_waits',
  'limit_reached',
]
const OVER = ['done', 'failed', 'cancelled', 'review', 'needs_input']

/** Real work on the real path: a repository, a server, eight missions, and what landed. */
export async function demo(cli: Cli): Promise<number> {
  const { terminal } = cli
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'fleet-demo-')))
  const repository = await makeRepository(join(folder, 'ship'))
  const where: Where = {
    home: cli.where.home ?? join(folder, 'home'),
    env: { ...withoutSession(cli.where.env), FLEET_MAX_CONCURRENT: '4' },
    note: () => {},
  }
  const home = openHome(where.home!)
  const ours = !(await runningServer(home))
  if (ours) await startInBackground(home, where, ['--port=0'])
  const client = await connect(where)
  try {
    terminal.note(`Eight missions on a new repository in ${repository}, each a script that shell runs:`)
    const project = await client.call<Project>('create_project', { name: 'ship', path: repository, landing: 'auto' })
    const { cursor } = await client.call<{ cursor: string }>('list_events', { project_id: project.id, limit: 500 })
    await createMissions(client, project.id, demoMissions(folder))
    const missions = await watch(cli, client, project.id, cursor)
    const landed = missions.every(mission => mission.result === 'landed')
    await tell(cli, { folder, repository, missions, landed })
    return landed ? EXIT.done : EXIT.failed
  } finally {
    await client.close()
    if (ours) await stopServer(home)
  }
}

async function makeRepository(path: string): Promise<string> {
  await mkdir(path)
  await gitText(path, ['init', '--quiet', '--initial-branch=main'])
  await gitText(path, ['config', 'user.name', 'Flotilla demo'])
  await gitText(path, ['config', 'user.email', 'demo@localhost'])
  await writeFile(join(path, 'README.md'), '# A small ship\n')
  await gitText(path, ['add', 'README.md'])
  await gitText(path, ['commit', '--quiet', '-m', 'An empty dock'])
  return path
}

async function createMissions(client: Client, project_id: string, missions: DemoMission[]): Promise<void> {
  const ids = new Map<string, string>()
  for (const { key, title, after, script, priority, retries } of missions) {
    const input = {
      project_id,
      title,
      detailed_prompt: script,
      agent: 'shell',
      depends_on: after.map(each => ids.get(each)!),
      priority,
      max_retries: retries,
      auto_dispatch: true,
    }
    ids.set(key, (await client.call<MissionView>('create_mission', input)).id)
  }
}

/** Shows the missions each time something happens, until all are over. */
async function watch(cli: Cli, client: Client, project_id: string, after: string): Promise<MissionView[]> {
  const { terminal } = cli
  const stop = new AbortController()
  const interrupted = () => stop.abort()
  process.once('SIGINT', interrupted)
  const look = async (): Promise<MissionView[]> =>
    (await client.call<{ missions: MissionView[] }>('list_missions', { project_id, limit: 50 })).missions.reverse()
  const live = new LiveTable(terminal, columnsFor(cli))
  const ended = new Set<string>()
  let missions = await look()
  try {
    for await (const item of client.stream<Event>('stream_events', { project_id, after }, stop.signal)) {
      missions = await look()
      if (terminal.interactive) live.show(missions)
      else if (!terminal.json) tellEvent(cli, item.data, missions)
      if (item.data.mission_id && ENDS.includes(item.kind)) ended.add(item.data.mission_id)
      if (missions.every(mission => ended.has(mission.id) && OVER.includes(mission.status))) break
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error
  } finally {
    process.off('SIGINT', interrupted)
  }
  return missions
}

const columnsFor = ({ terminal }: Cli): Column<MissionView>[] => [
  { title: 'ID', value: each => shortId(each.id) },
  { title: 'STATUS', value: standing, paint: (text, each) => inStatusColour(terminal, each.status, text) },
  { title: 'TRIES', value: each => (each.sessions ? String(each.sessions) : ''), right: true },
  { title: 'MISSION', value: each => each.title, flexible: true },
  { title: 'BECAUSE', value: because, flexible: true, paint: text => terminal.paint('dim', text) },
]

const TOLD = ['session_starting', 'requeued', 'conflict', 'landed', 'failed', 'needs_input', 'review_wanted']

function tellEvent({ terminal }: Cli, event: Event, missions: MissionView[]): void {
  const mission = missions.find(each => each.id === event.mission_id)
  if (mission && TOLD.includes(event.kind))
    terminal.print(
      `${event.kind.padEnd(16)} ${mission.title}${event.cause ? ` (${terminal.foreign(event.cause)})` : ''}`,
    )
}

async function tell(
  { terminal }: Cli,
  end: { folder: string; repository: string; missions: MissionView[]; landed: boolean },
): Promise<void> {
  if (terminal.json) return terminal.data(end)
  terminal.print()
  terminal.print(terminal.paint('bold', 'What landed on main:'))
  terminal.print(await gitText(end.repository, ['log', '--format=%h %s', 'main']))
  terminal.print()
  terminal.print(await gitText(end.repository, ['show', 'main:ship.txt']))
  terminal.print()
  terminal.print(
    end.landed ? terminal.paint('green', 'All eight landed.') : terminal.paint('red', 'Not everything landed.'),
  )
  terminal.print(`Look around: ${end.repository} (delete ${end.folder} when you are done)`)
}
