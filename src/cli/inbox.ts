import { shortId } from '../domain/ids.ts'
import type { Decision } from '../domain/rules/decisions.ts'
import type { MissionView } from '../operations/views.ts'
import type { Cli } from './command.ts'
import { EXIT } from './exit.ts'
import { titleOf } from './show.ts'
import { linesOf } from './show-permission.ts'
import { wrapped } from './wrap.ts'

export interface QuestionView {
  id: string
  mission_id: string
  kind: string
  tool: string | null
  text: string
  summary: string
  deadline: string | null
  covers: string | null
  answer: { decision: Decision } | null
}

interface WaitingMail {
  id: string
  team: string
  subject: string
  body: string
  needs: 'none' | 'ack' | 'reply' | 'decision'
  project_id: string
  from: { handle: string }
  deliveries: { to: string; held: string | null }[]
}

interface Inbox {
  questions: QuestionView[]
  missions: MissionView[]
  plans: { id: string; goal: string; project_id: string }[]
  mail: WaitingMail[]
  failures: MissionView[]
  count: number
}

/** One thing that waits, as it is shown. */
interface Item {
  id: string
  title: string
  project: string | undefined
  /** What is wanted, and why. */
  about: string[]
  /** What to type. */
  next: string[]
}

export async function showInbox(cli: Cli): Promise<number | undefined> {
  const { terminal } = cli
  const inbox = await cli.ask<Inbox>('list_inbox', {})
  if (terminal.json) return void terminal.data(inbox)
  const { missions, projects } = await namesFor(cli, inbox)
  const projectOf = (id: string | undefined): string | undefined => (id ? projects.get(id) : undefined)
  const asked = new Set(inbox.questions.map(({ mission_id }) => mission_id))
  const waiting = inbox.missions.filter(({ id }) => !asked.has(id))
  const shown = new Set([...asked, ...waiting.map(({ id }) => id)])
  const mission = (each: MissionView): Item => missionItem(each, projectOf(each.project_id))
  section(
    cli,
    'Questions',
    inbox.questions.map(question => {
      const from = missions.get(question.mission_id)
      return questionItem(question, from?.title, projectOf(from?.project_id))
    }),
  )
  section(cli, 'Review', waiting.filter(({ status }) => status === 'review').map(mission))
  section(cli, 'Needs input', waiting.filter(({ status }) => status !== 'review').map(mission))
  section(
    cli,
    'Plans',
    inbox.plans.map(({ id, goal, project_id }) => ({
      id,
      title: titleOf(goal),
      project: projectOf(project_id),
      about: [],
      next: [`fleet plan show ${shortId(id)}, then fleet plan approve ${shortId(id)}`],
    })),
  )
  section(
    cli,
    'Mail',
    inbox.mail.map(mail => mailItem(mail, projectOf(mail.project_id))),
  )
  const listed = [inbox.questions, inbox.missions, inbox.plans, inbox.mail].reduce((sum, { length }) => sum + length, 0)
  const more = inbox.count - listed
  if (more > 0) terminal.note(`and ${more} more`)
  if (inbox.count === 0) terminal.print('Nothing waits for you.')
  section(cli, 'Recent failures', inbox.failures.filter(({ id }) => !shown.has(id)).map(mission))
  return inbox.count ? EXIT.person : undefined
}

function questionItem(question: QuestionView, title: string | undefined, project: string | undefined): Item {
  const { id, kind, summary, text, covers, deadline, tool } = question
  const isPermission = kind === 'permission'
  const rule = covers === null ? '' : ' [--for-session|--always]'
  const words = isPermission ? `allow|deny ["<note>"]${rule}` : '"<answer>"'
  return {
    id,
    title: title ?? shortId(question.mission_id),
    project,
    about: isPermission ? [`Wants to use ${tool}:`, ...linesOf(text).map(line => `  ${line}`)] : [summary],
    next: [
      `fleet answer ${shortId(id)} ${words}`,
      ...(covers === null ? [] : [`A rule allows exactly: ${covers}`]),
      ...(deadline ? [`It is answered automatically at ${deadline}.`] : []),
    ],
  }
}

const missionItem = ({ id, title, status, status_reason }: MissionView, project: string | undefined): Item => ({
  id,
  title,
  project,
  about: [status_reason?.text ?? status.replace('_', ' ')],
  next: status_reason?.try ? [status_reason.try] : [],
})

function mailItem(
  { id, team, subject, body, needs, from, deliveries }: WaitingMail,
  project: string | undefined,
): Item {
  const title = `${from.handle} of ${team}: ${subject || titleOf(body)}`
  const held = deliveries[0]?.held
  if (held) return { id, title, project, about: [held], next: [`fleet mail release ${shortId(id)}`] }
  const isAsked = needs === 'reply' || needs === 'decision'
  const next = isAsked ? `fleet mail reply ${shortId(id)} "<answer>"` : `fleet mail ack ${shortId(id)}`
  return { id, title, project, about: subject ? [titleOf(body)] : [], next: [next] }
}

const INDENT = '  '

function section({ terminal }: Cli, heading: string, items: readonly Item[]): void {
  if (!items.length) return
  terminal.print(terminal.paint('dim', `${heading} (${items.length})`))
  for (const { id, title, project, about, next } of items) {
    terminal.headline(shortId(id), title, project && ` · ${project}`)
    const lines = (text: string): string[] => wrapped(terminal.foreign(text), terminal.width - INDENT.length)
    for (const line of about.flatMap(lines)) terminal.print(`${INDENT}${line}`)
    for (const line of next.flatMap(lines)) terminal.note(`${INDENT}${terminal.paint('cyan', line)}`)
  }
  terminal.print()
}

/** The missions that ask, and the names of all projects in the inbox. */
async function namesFor(
  cli: Cli,
  { questions, missions, plans, mail, failures }: Inbox,
): Promise<{ missions: Map<string, MissionView>; projects: Map<string, string> }> {
  const ids = [...new Set(questions.map(({ mission_id }) => mission_id))]
  const asking = ids.length
    ? (await cli.ask<{ missions: MissionView[] }>('list_missions', { ids, limit: ids.length })).missions
    : []
  const isAnything = [missions, asking, plans, mail, failures].some(({ length }) => length > 0)
  const { projects } = isAnything
    ? await cli.ask<{ projects: { id: string; name: string }[] }>('list_projects', { limit: 500 })
    : { projects: [] }
  return {
    missions: new Map(asking.map(mission => [mission.id, mission])),
    projects: new Map(projects.map(({ id, name }) => [id, name])),
  }
}
