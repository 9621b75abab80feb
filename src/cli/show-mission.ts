import type { z } from 'zod'
import { shortId } from '../domain/ids.ts'
import type { Landing } from '../domain/records/mission.ts'
import type { Project } from '../domain/records/project.ts'
import type { Context, Usage } from '../domain/records/session.ts'
import type { MissionNotes } from '../operations/notes.ts'
import type { MissionDetail, MissionView } from '../operations/views.ts'
import { safeLine } from '../platform/safe-text.ts'
import type { Cli } from './command.ts'
import { EXIT } from './exit.ts'
import { namesIn } from './names.ts'
import { age, ago, because, counted, duration, inStatusColour, named, standing } from './show.ts'
import { checkLines } from './show-checks.ts'
import type { Column } from './table.ts'

export type Detail = z.infer<typeof MissionDetail>
export interface Missions {
  missions: MissionView[]
  cursor?: string
}

export async function listMissions(cli: Cli, filter: Record<string, unknown>): Promise<undefined> {
  const answer = await cli.ask<Missions>('list_missions', filter)
  const { limit, cursor, ...asked } = filter
  const isFiltered = cursor !== undefined || Object.values(asked).some(value => value !== undefined)
  const none = isFiltered ? 'No missions match.' : 'There are no missions yet. Make one: fleet run "<what to do>"'
  return tellMissions(cli, answer, none)
}

export async function tellMissions(cli: Cli, answer: Missions, otherwise: string): Promise<undefined> {
  const { terminal } = cli
  if (terminal.json) return void terminal.data(answer)
  if (!answer.missions.length) return void terminal.note(otherwise)
  const projects = await projectNames(cli, answer.missions)
  const columns: Column<MissionView>[] = [
    { title: 'ID', value: each => shortId(each.id) },
    { title: 'STATUS', value: standing, paint: (text, each) => inStatusColour(terminal, each.status, text) },
    ...(projects.size > 1
      ? [{ title: 'PROJECT', value: (each: MissionView) => projects.get(each.project_id) ?? '', flexible: true }]
      : []),
    { title: 'TITLE', value: each => each.title, flexible: true },
    { title: 'AGE', value: each => age(each.created_at), right: true },
    { title: 'BECAUSE', value: because, flexible: true, paint: text => terminal.paint('dim', text) },
  ]
  terminal.table(columns, answer.missions)
  if (answer.cursor) terminal.note(`There are more: add --cursor ${answer.cursor}`)
}

/** Asked for only if the missions belong to different projects. */
async function projectNames(cli: Cli, missions: MissionView[]): Promise<Map<string, string>> {
  const ids = [...new Set(missions.map(mission => mission.project_id))]
  if (ids.length < 2) return new Map()
  const client = await cli.client()
  const projects = await Promise.all(ids.map(project_id => client.call<Project>('get_project', { project_id })))
  return new Map(projects.map(project => [project.id, project.name]))
}

export async function tellMission({ terminal }: Cli, mission: MissionView, verb?: string): Promise<void> {
  if (terminal.json) return terminal.data(mission)
  const state = mission.cancelling ? 'being cancelled' : mission.undoing ? 'being undone' : standing(mission)
  const why = because(mission)
  terminal.print(
    `${verb ? `${verb} mission` : 'Mission'} ${named(mission)}: ${inStatusColour(terminal, mission.status, state)}${why ? terminal.foreign(` (${why})`) : ''}`,
  )
  for (const warning of mission.warnings) terminal.note(terminal.foreign(warning))
  const next = nextStep(mission)
  if (next) terminal.note(next)
}

function nextStep({ id, status, status_reason }: MissionView): string | undefined {
  if (status === 'draft') return `Start it: fleet mission dispatch ${shortId(id)}`
  if (status === 'queued' || status === 'running') return `Watch it: fleet logs -f ${shortId(id)}`
  return status_reason?.try
}

/** Prints the folder of its last session that still exists, and nothing else, because other programs read this. */
export async function printPath(cli: Cli, id: string): Promise<number> {
  const { terminal } = cli
  const { id: whole, sessions } = await cli.ask<Detail>('get_mission', { mission_id: id })
  const path = sessions.findLast(session => session.worktree && session.worktree_kept)?.worktree
  if (terminal.json) terminal.data({ path: path ?? null })
  else if (path) terminal.print(path)
  else terminal.note(`Mission ${shortId(whole)} has no worktree now.`)
  return path ? EXIT.done : EXIT.state
}

/** `checks`: with their whole output. */
export async function describeMission(cli: Cli, id: string, { checks = false } = {}): Promise<undefined> {
  const { terminal } = cli
  const mission = await cli.ask<Detail>('get_mission', { mission_id: id })
  if (terminal.json) return void terminal.data(mission)
  const landings = [...mission.past_landings, ...(mission.landed ? [mission.landed] : [])]
  const who = await namesIn(cli, [
    ...landings.flatMap(({ approved, forced, undone }) => [approved?.by, forced?.by, undone?.by]),
    ...mission.comments.map(({ author }) => author),
  ])
  terminal.print(
    `${terminal.paint('bold', safeLine(mission.title))}  ${inStatusColour(terminal, mission.status, standing(mission))}`,
  )
  terminal.facts([
    ['id', mission.id],
    ['project', mission.project_name ? `${mission.project_name} (${mission.project_id})` : mission.project_id],
    ['because', because(mission)],
    ['try', mission.status_reason?.try],
    ...mission.holds.map(({ field, value, from }) => [HELD_WORDS[field] ?? field, inherited(value, from)] as const),
    ['warning', mission.warnings.join(' ')],
    ['priority', mission.priority ? String(mission.priority) : ''],
    ['tags', mission.tags.join(', ')],
    ['after', mission.depends_on.map(shortId).join(', ')],
    ['parent', mission.parent_mission_id],
    ['branch', mission.branch],
    ['worktree', mission.sessions.findLast(each => each.worktree_kept)?.worktree],
    ['also kept', mission.sessions.flatMap(each => each.kept_refs).join('\n')],
    ['pull request', mission.pull_request?.url && `${mission.pull_request.url} (${mission.pull_request.state})`],
    ['candidate', mission.candidate?.commit],
    ['landed', mission.landed && landingInWords(mission.landed, who)],
    ['earlier landings', mission.past_landings.map(each => landingInWords(each, who)).join('\n')],
    ['created', ago(mission.created_at)],
    [
      'took',
      mission.started_at && mission.ended_at
        ? duration(Date.parse(mission.ended_at) - Date.parse(mission.started_at))
        : '',
    ],
    ['used', mission.sessions.length > 1 ? usageInWords(mission.usage) : ''],
    ['prompt', mission.detailed_prompt],
    ['accepted if', mission.acceptance_criteria],
  ])
  section(
    cli,
    'Sessions',
    mission.sessions.map(
      each =>
        `${shortId(each.id)}  ${each.number}. ${each.reason}  ${each.agent}  ${each.outcome ?? each.status}  ${each.outcome_reason ?? ''}${measures(each)}`,
    ),
  )
  section(cli, 'Report', reportLines(mission))
  section(
    cli,
    'Previews and remote control',
    mission.processes.map(each => `${each.kind}  ${each.status}  ${each.url ?? ''}  ${ago(each.created_at)}`),
  )
  section(cli, 'Checks', checkLines(mission.id, mission.evidence, checks))
  section(
    cli,
    'Sub-missions',
    mission.children.map(each => `${named(each)}  ${standing(each)}`),
  )
  section(cli, 'Notes', await noted(cli, mission.id))
  section(
    cli,
    'Comments',
    mission.comments.map(
      each =>
        `${who(each.author)}, ${ago(each.created_at)}${each.path ? ` on ${each.path}${each.line ? `:${each.line}` : ''}` : ''}: ${each.body}`,
    ),
  )
}

/** What landed, as which commit, and who approved it. */
function landingInWords(landing: Landing, who: (actor: string) => string): string {
  const { commit, branch, at, candidate, approved, forced, with: bringer, undone } = landing
  const facts = [
    `${commit.slice(0, 10)} on ${branch}, ${ago(at)}`,
    candidate && candidate !== commit && `of candidate ${candidate.slice(0, 10)}`,
    bringer ? `with mission ${shortId(bringer)}` : approved ? `approved by ${who(approved.by)}` : 'by its policy',
    forced && `forced by ${who(forced.by)} past: ${forced.past}`,
    undone && `undone by ${undone.by ? `${who(undone.by)} as ` : ''}${undone.commit.slice(0, 10)}, ${ago(undone.at)}`,
  ]
  return facts.filter(Boolean).join(', ')
}

/** The notes of a mission, and the command that shows all of them. */
async function noted(cli: Cli, mission_id: string): Promise<string[]> {
  const { plan, knowledge, questions, artifacts } = await cli.ask<MissionNotes>('get_mission_notes', {
    mission_id,
  })
  const lines = (text: string): string => counted(text.trim().split('\n').length, 'line')
  const open = questions.filter(({ status }) => status === 'open').length
  const kinds: [string, string][] = [
    ['plan', plan && lines(plan)],
    ['knowledge', knowledge && lines(knowledge)],
    ['questions', questions.length ? `${counted(questions.length, 'question')}, ${open} open` : ''],
    ['artifacts', artifacts.files.length ? counted(artifacts.files.length, 'file') : ''],
  ]
  return kinds.flatMap(([kind, what]) => (what ? [`${what}: fleet task ${shortId(mission_id)} ${kind}`] : []))
}

const HELD_WORDS: Record<string, string> = {
  agent: 'agent',
  model: 'model',
  engine: 'engine',
  max_turns: 'turns',
  max_budget_usd: 'budget',
  timeout_seconds: 'time limit (s)',
  max_retries: 'retries',
  context_limit_percent: 'context limit (%)',
  tool_preset: 'preset',
  approvals: 'approvals',
  landing: 'landing',
}

const inherited = (value: string | number | null, from: string): string => {
  if (value === null) return ''
  return `${value}${from === 'mission' ? '' : from === 'project' ? ' (default of the project)' : ' (default)'}`
}

/** The usage of a session, on a line of its own. */
function measures({ usage, context }: Detail['sessions'][number]): string {
  const used = [usageInWords(usage), context && contextInWords(context)].filter(Boolean).join('; ')
  return used && `\n    ${used}`
}

function usageInWords(usage: Usage): string {
  const read = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
  const untold = usage.untold_answers ? `${usage.untold_answers} answer(s) not measured` : ''
  if (!read && !usage.output_tokens) return untold
  const thought = usage.reasoning_tokens ? ` (${usage.reasoning_tokens} thought)` : ''
  const told = `${grouped(read)} tokens in, ${grouped(usage.output_tokens)} out${thought}, $${usage.cost_usd.toFixed(4)}`
  return untold ? `${told}, ${untold}` : told
}

const grouped = (count: number): string => count.toLocaleString('en')

function contextInWords({ used_tokens, peak_tokens, window_tokens }: Context): string {
  const share = (tokens: number) =>
    window_tokens ? `${Math.round((tokens * 100) / window_tokens)} %` : `${tokens} tokens`
  const size = window_tokens ? ` of ${grouped(window_tokens)} tokens` : ''
  return `context ${share(used_tokens)}${size}${peak_tokens > used_tokens ? `, ${share(peak_tokens)} at its peak` : ''}`
}

function reportLines({ report }: Detail): string[] {
  if (!report) return []
  const files = report.files_changed.map(file => `${file.change} ${file.path}`)
  const more = report.files_omitted ? [`and ${report.files_omitted} more files`] : []
  const lists: [string, string[]][] = [
    ['done', report.what_done],
    ['open', report.what_open],
    ['tested', report.what_tested],
    ['untested', report.what_untested],
    [
      'test',
      report.tests.map(({ command, status, details }) => [command, status, details].filter(Boolean).join(' · ')),
    ],
    ['next', report.next_steps],
    ['errors', report.errors_encountered],
    ['preview', report.preview_url ? [report.preview_url] : []],
    ['files', [...files, ...more]],
  ]
  const ended = `session ended: ${report.status.replaceAll('_', ' ')}`
  return [ended, report.summary, ...lists.flatMap(([name, items]) => items.map(item => `${name}: ${item}`))].filter(
    Boolean,
  )
}

function section({ terminal }: Cli, title: string, lines: string[]): void {
  if (!lines.length) return
  terminal.print()
  terminal.print(terminal.paint('bold', title))
  for (const line of lines) terminal.print(`  ${terminal.foreign(line.trimEnd()).replaceAll('\n', '\n  ')}`)
}
