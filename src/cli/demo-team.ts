import type { Event } from '../domain/records/event.ts'
import type { Project } from '../domain/records/project.ts'
import type { Cli } from './command.ts'
import { sampleHere } from './demo.ts'
import { EXIT } from './exit.ts'
import { untilInterrupted } from './until.ts'

interface Message {
  id: string
  thread: string
  from: { handle: string }
  to: string[]
  body: string
  deliveries: { to: string; state: string }[]
}
interface Task {
  id: string
  title: string
  status: string
  result: string | null
  landed: string | null
  assignee: { handle: string } | null
}
interface Team {
  id: string
  name: string
  paused: boolean
  ended_at: string | null
}

/** Makes the sample team, and watches it until its lead has answered the person. */
export async function demoTeam(cli: Cli): Promise<number> {
  const { terminal } = cli
  const before = await sampleHere(cli, 'team')
  const project = await cli.ask<Project>('create_sample_project', { team: true })
  terminal.note(
    before
      ? `The project ${project.name} exists already. Remove it with fleet demo --remove.`
      : `Four scripts build a small ship as a team in the new project ${project.name} (${project.path}).`,
  )
  const { teams } = await cli.ask<{ teams: Team[] }>('list_teams', { project_id: project.id })
  const team = teams.find(({ ended_at }) => !ended_at)
  if (!team) return EXIT.failed
  const isDone = await watch(cli, project, team)
  const messages = await mailOf(cli, team)
  const tasks = await tasksOf(cli, team)
  terminal.tell({ project, team, tasks, messages }, () => tell(cli, team, tasks, messages))
  return isDone ? EXIT.done : EXIT.failed
}

/** Says what happens as it happens. Whether the goal was answered. */
async function watch(cli: Cli, project: Project, team: Team): Promise<boolean> {
  const client = await cli.client()
  const signal = untilInterrupted()
  const told = new Set<string>()
  const { cursor } = await client.call<{ cursor: string }>('list_events', { project_id: project.id, limit: 1 })
  const look = async (): Promise<boolean> => {
    const [messages, tasks] = await Promise.all([mailOf(cli, team), tasksOf(cli, team)])
    if (!cli.terminal.json) for (const line of newsOf(cli, messages, tasks, told)) cli.terminal.print(line)
    const isAnswered = messages[0]?.deliveries.some(({ state }) => state === 'replied') ?? false
    return (isAnswered && tasks.every(isOver)) || tasks.some(({ status }) => STUCK.includes(status))
  }
  let isOut = await look()
  try {
    if (!isOut)
      for await (const item of client.stream<Event>(
        'stream_events',
        { project_id: project.id, after: cursor },
        signal,
      )) {
        if (!item.data || !WORTH_A_LOOK.test(item.data.kind)) continue
        isOut = await look()
        if (isOut) break
      }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return isOut && (await tasksOf(cli, team)).every(({ status }) => status === 'done')
}

const WORTH_A_LOOK = /^(mail|task|landed|no_changes|done|failed|needs_input|report|session_ended|cancelled)/
const STUCK = ['failed', 'needs_input', 'review']
const isOver = ({ status }: Task): boolean => status === 'done' || status === 'cancelled'

/** The oldest first. */
const mailOf = async (cli: Cli, { id: team_id }: Team): Promise<Message[]> =>
  (await cli.ask<{ messages: Message[] }>('list_mail', { team_id, limit: 100 })).messages.reverse()
const tasksOf = async (cli: Cli, { id: team_id }: Team): Promise<Task[]> =>
  (await cli.ask<{ tasks: Task[] }>('team_tasks', { team_id, over: true, limit: 100 })).tasks.reverse()

function newsOf({ terminal }: Cli, messages: Message[], tasks: Task[], told: Set<string>): string[] {
  const news = [
    ...messages.map(({ id, from, to, body, deliveries }) => ({
      key: id,
      text: `${from.handle} → ${(to.length ? to : deliveries.map(each => each.to)).join(', ')}: ${terminal.foreign(body)}`,
    })),
    ...tasks.map(({ id, title, assignee }) => ({ key: id, text: `task: ${title} (${assignee?.handle ?? 'nobody'})` })),
    ...tasks.filter(isOver).map(({ id, title, landed }) => ({
      key: `${id} over`,
      text: `${landed ? 'landed' : 'done'}: ${title}`,
    })),
  ].filter(({ key }) => !told.has(key))
  for (const { key } of news) told.add(key)
  return news.map(({ text }) => text)
}

function tell({ terminal }: Cli, team: Team, tasks: Task[], messages: Message[]): void {
  const landed = tasks.filter(task => task.landed).length
  terminal.print()
  terminal.print(`${tasks.length} tasks, ${landed} of them landed; ${messages.length} messages.`)
  terminal.print()
  terminal.facts([
    ['fleet open', 'see it in the browser'],
    [`fleet team show ${team.name}`, 'who is in the team'],
    ['fleet demo --remove', 'remove it'],
  ])
}
