import { shortId } from '../domain/ids.ts'
import type { Event } from '../domain/records/event.ts'
import type { Project } from '../domain/records/project.ts'
import type { MissionView } from '../operations/views.ts'
import type { Cli } from './command.ts'
import { EXIT } from './exit.ts'
import { LiveTable } from './live-table.ts'
import { because, inStatusColour, standing } from './show.ts'
import type { Column } from './table.ts'
import { untilInterrupted } from './until.ts'

const OVER = ['done', 'failed', 'cancelled', 'review', 'needs_input']

/** Makes the sample project, and watches its missions until each has landed or waits for the person. */
export async function demo(cli: Cli): Promise<number> {
  const { terminal } = cli
  const before = await sampleHere(cli, true)
  const project = await cli.ask<Project>('create_sample_project', {})
  terminal.note(
    before
      ? `The project ${project.name} exists already. Remove it with fleet demo --remove.`
      : `Eight scripts build a small ship in the new project ${project.name} (${project.path}).`,
  )
  const missions = await watch(cli, project.id)
  const failed = missions.filter(({ status }) => status === 'failed')
  terminal.tell({ project, missions }, () => tell(cli, project, missions))
  return failed.length ? EXIT.failed : EXIT.done
}

/** Removes the sample projects, and each repository that has nothing of a person. */
export async function removeDemo(cli: Cli): Promise<undefined> {
  const { terminal } = cli
  const projects = await samplesHere(cli)
  const removed: { id: string; name: string; repository: string | null }[] = []
  for (const { id, name } of projects) {
    const { teams } = await cli.ask<{ teams: { id: string; ended_at: string | null }[] }>('list_teams', {
      project_id: id,
    })
    for (const team of teams.filter(({ ended_at }) => !ended_at))
      await cli.ask('delete_team', { team_id: team.id, dismiss: true })
    const { repository } = await cli.ask<{ repository: string | null }>('delete_project', {
      project_id: id,
      discard: true,
    })
    removed.push({ id, name, repository })
  }
  terminal.tell({ removed: removed.map(({ id, repository }) => ({ id, repository })) }, () => {
    if (!removed.length) terminal.print('There is no demo to remove.')
    for (const { name, repository } of removed) {
      terminal.print(`Removed the project ${name}.`)
      if (repository)
        terminal.print(`Its repository may hold work of yours, so it stays: ${terminal.foreign(repository)}`)
    }
  })
}

async function samplesHere(cli: Cli): Promise<Project[]> {
  const { projects } = await cli.ask<{ projects: Project[] }>('list_projects', { limit: 500 })
  return projects.filter(({ sample }) => sample)
}

export const sampleHere = async (cli: Cli, kind: Project['sample']): Promise<Project | undefined> =>
  (await samplesHere(cli)).find(({ sample }) => sample === kind)

async function watch(cli: Cli, project_id: string): Promise<MissionView[]> {
  const { terminal } = cli
  const client = await cli.client()
  const signal = untilInterrupted()
  const look = async (): Promise<MissionView[]> =>
    (await client.call<{ missions: MissionView[] }>('list_missions', { project_id, limit: 50 })).missions.reverse()
  const live = new LiveTable(terminal, columnsFor(cli))
  const { cursor } = await client.call<{ cursor: string }>('list_events', { project_id, limit: 500 })
  let missions = await look()
  if (terminal.interactive) live.show(missions)
  if (missions.every(isSettled)) return missions
  try {
    for await (const item of client.stream<Event>('stream_events', { project_id, after: cursor }, signal)) {
      missions = await look()
      const isLast = missions.every(isSettled)
      if (terminal.interactive) live.show(missions)
      else if (!terminal.json) {
        // The missions may be further than this event, so the last look tells the rest.
        const query = { project_id, after: item.cursor, limit: 500 }
        const rest = isLast ? (await client.call<{ events: Event[] }>('list_events', query)).events : []
        for (const event of [item.data, ...rest]) if (event) tellEvent(cli, event, missions)
      }
      if (isLast) break
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return missions
}

/** It is over, or waits for a person. */
const isSettled = ({ status, waits_for }: MissionView): boolean =>
  OVER.includes(status) || waits_for.some(({ kind }) => kind === 'blocked')

const columnsFor = ({ terminal }: Cli): Column<MissionView>[] => [
  { title: 'ID', value: each => shortId(each.id) },
  { title: 'STATUS', value: standing, paint: (text, each) => inStatusColour(terminal, each.status, text) },
  { title: 'TRIES', value: each => (each.sessions ? String(each.sessions) : ''), right: true },
  { title: 'MISSION', value: each => each.title, flexible: true },
  { title: 'BECAUSE', value: because, flexible: true, paint: text => terminal.paint('dim', text) },
]

/** The events worth a line, in words. */
const TOLD: Partial<Record<Event['kind'], string>> = {
  session_starting: 'started',
  requeued: 'retried',
  conflict: 'conflict',
  landed: 'landed',
  failed: 'failed',
  needs_input: 'needs input',
  review_wanted: 'in review',
}

function tellEvent({ terminal }: Cli, event: Event, missions: MissionView[]): void {
  const mission = missions.find(each => each.id === event.mission_id)
  const word = TOLD[event.kind]
  if (mission && word)
    terminal.print(`${word.padEnd(11)}  ${mission.title}${event.cause ? ` (${terminal.foreign(event.cause)})` : ''}`)
}

function tell({ terminal }: Cli, project: Project, missions: MissionView[]): void {
  const landed = missions.filter(({ result }) => result === 'landed').length
  const waiting = missions.find(({ status }) => status === 'review')
  terminal.print()
  terminal.print(`${landed} of ${missions.length} missions landed on ${project.base_branch}.`)
  if (waiting) terminal.print(`1 waits for your review: fleet land ${shortId(waiting.id)}`)
  terminal.print()
  terminal.facts([
    ['fleet open', 'see it in the browser'],
    ['fleet demo --remove', 'remove it'],
  ])
}
