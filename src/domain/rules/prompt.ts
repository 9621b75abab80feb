import type { Mission } from '../records/mission.ts'
import type { Report } from '../records/report.ts'
import type { SessionReason } from '../records/session.ts'

export interface HandOver {
  mission: Pick<Mission, 'title'>
  report: Report
}

/** A sub-mission, and what it says it did. */
export interface ChildReport {
  mission: Pick<Mission, 'id' | 'title' | 'status' | 'status_reason' | 'result' | 'branch'>
  report: Report | null
}

/** What earlier sessions wrote down for later ones. */
export interface Note {
  title: string
  file: string
  text: string
}

/** For every agent that has the fleet's own tools. */
export const WITH_TOOLS = `You work on one mission of a fleet of agents, in a folder of its own. The MCP server "fleet" is about it:
- get_mission_context, get_project_context, get_team_context, read_past_reports: what is asked, by which rules, who works beside you.
- create_sub_mission hands a part to another agent; then call wait_for_sub_missions and end your turn: you are resumed with the reports.
- ask_human asks the person in charge; note keeps what whoever goes on with this mission must know.
- When you are done, call submit_report, then end your turn.`

export interface PromptParts {
  reason: SessionReason
  /** The mission's own prompt. It is passed on byte for byte. */
  prompt: string
  acceptanceCriteria: string
  /** Its dependencies and their reports. */
  handOvers: readonly HandOver[]
  children: readonly ChildReport[]
  notes: readonly Note[]
  /** What a person added for this run. */
  message: string | null
  /** Files in conflict, if the session has to resolve them. */
  conflicts: readonly string[]
  baseBranch: string
  /** Whether the agent remembers the earlier conversation. */
  remembers: boolean
  /** Mail of its team, quoted. */
  mail: string
  /** What the earlier conversation wrote down, for an agent that does not remember it. */
  handedOver: string
  /** Why the session before was ended, for a member that was started again. */
  restarted: string
}

/** Everything an agent is told at the start of a session. */
export function composePrompt(b: PromptParts): string {
  const opening = b.remembers
    ? goOn(b)
    : [
        b.prompt,
        ...again(b),
        section('Acceptance criteria', b.acceptanceCriteria),
        handedOver(b.handOvers),
        section('Handed over from the earlier conversation', b.handedOver),
        ...b.notes.map(({ title, file, text }) => section(`Notes of earlier runs: ${title} (${file})`, text)),
      ]
  return [
    ...opening,
    section('You were started again', b.restarted),
    fromChildren(b.children),
    section('Mail', b.mail),
    b.message && section('Added by the person in charge', b.message),
  ]
    .filter(Boolean)
    .join('\n\n')
}

function goOn(b: PromptParts): string[] {
  if (b.reason === 'conflict') return [conflict(b)]
  if (b.reason === 'children')
    return ['You waited for your sub-missions. This is how they stand. Go on with your mission.']
  if (b.reason === 'mail') return ['You have mail.']
  if (b.reason === 'fork')
    return [
      'This is a copy of your conversation, in a worktree of its own, which is your working directory now. Full paths from before belong to the first one: leave those files alone. Go on from here in another way.',
    ]
  return [b.message ? 'Go on with your mission.' : 'Your last run was interrupted. Go on where you stopped.']
}

function again(b: PromptParts): string[] {
  if (b.reason === 'conflict') return [conflict(b)]
  if (b.reason === 'resume' || b.reason === 'fork' || b.reason === 'children')
    return ['The worktree holds what an earlier run left. Look at it first and go on from there.']
  if (b.reason === 'hand_over')
    return [
      'You are not the first on this: an earlier conversation came far, until its context window was full. The worktree ' +
        'holds its work. Read what it handed over below, look at the worktree, and go on from there; do not begin again.',
    ]
  return []
}

const conflict = ({ conflicts, baseBranch }: PromptParts): string =>
  `Others have landed on ${baseBranch} meanwhile. It was merged into your branch, and these files are in conflict:\n${conflicts.map(path => `- ${path}`).join('\n')}\n` +
  'Resolve them so that both sides keep their meaning, remove every conflict marker, and check that the whole still works.'

const section = (title: string, text: string): string => (text.trim() ? `## ${title}\n\n${text}` : '')

function handedOver(handOvers: readonly HandOver[]): string {
  return section(
    'What the missions before this one report',
    handOvers.map(({ mission, report }) => [`### ${mission.title}`, describeReport(report)].join('\n\n')).join('\n\n'),
  )
}

function fromChildren(children: readonly ChildReport[]): string {
  return section('Your sub-missions', children.map(fromChild).join('\n\n'))
}

function fromChild({ mission: { id, title, status, status_reason, result, branch }, report }: ChildReport): string {
  const kept = result === 'kept' && branch ? `Its work is on the branch ${branch}: merge it if you want it.` : ''
  return [
    `### ${title} (${id}): ${status}${result ? `, ${result}` : ''}`,
    status_reason?.text,
    kept,
    report && describeReport(report),
  ]
    .filter(Boolean)
    .join('\n\n')
}

export function describeReport(report: Report): string {
  const files = report.files_changed.map(file => `${file.path} (${file.change})`)
  const parts: [string, string[]][] = [
    ['Done', report.what_done],
    ['Open', report.what_open],
    ['Tested', report.what_tested],
    ['Not tested', report.what_untested],
    ['Next steps', report.next_steps],
    ['Errors', report.errors_encountered],
    ['Preview', report.preview_url ? [report.preview_url] : []],
    ['Files changed', files],
  ]
  const lists = parts
    .filter(([, items]) => items.length)
    .map(([name, items]) => `${name}:\n${items.map(item => `- ${item}`).join('\n')}`)
  return [report.summary, ...lists].filter(Boolean).join('\n\n')
}
