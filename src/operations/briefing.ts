import { clipped } from '../domain/text.ts'
import type { MissionView, SessionView } from './views.ts'

/** A mission in so few words that an agent can look at it often. */
export interface Brief {
  mission_id: string
  project_id: string
  title: string
  status: MissionView['status']
  result: MissionView['result']
  summary: string
  progress: string
  elapsed_seconds: number
  agent: string | null
  model: string | null
  branch: string | null
  session_id: string | null
  tags: string[]
  metadata: Record<string, unknown>
  usage?: SessionView['usage']
}

type Briefed = Omit<MissionView, 'sessions'>

export function briefOf(mission: Briefed, session: SessionView | undefined, nowMs: number): Brief {
  const elapsed_seconds = elapsed(mission, nowMs)
  return {
    mission_id: mission.id,
    project_id: mission.project_id,
    title: mission.title,
    status: mission.status,
    result: mission.result,
    summary: summaryOf(mission, session, elapsed_seconds),
    progress: progressBar(mission),
    elapsed_seconds,
    agent: session?.agent ?? mission.agent,
    model: session?.model ?? mission.model,
    branch: mission.branch,
    session_id: mission.session_id,
    tags: mission.tags,
    metadata: mission.metadata,
    ...(session && { usage: session.usage }),
  }
}

function elapsed({ started_at, ended_at }: Briefed, nowMs: number): number {
  if (!started_at) return 0
  return Math.max(0, Math.round((ended_at ? Date.parse(ended_at) : nowMs) - Date.parse(started_at)) / 1000)
}

/** One line with the status. If a person has to act, it says why and what to do. */
function summaryOf(mission: Briefed, session: SessionView | undefined, seconds: number): string {
  const { title, status, status_reason: why, waits_for } = mission
  const after = seconds ? ` after ${Math.round(seconds)} s` : ''
  const because = why ? `: ${clipped(why.text, 400)}${why.try ? ` (${why.try})` : ''}` : ''
  const line = (text: string): string => `${title}: ${text}`.replace(/\s+/g, ' ')
  switch (status) {
    case 'draft':
      return line('a draft; it starts when you dispatch it')
    case 'queued':
      return line(`queued, ${waits_for.map(({ text }) => text).join(', ') || 'about to start'}`)
    case 'running': {
      const { turns = 0, cost_usd = 0 } = session?.usage ?? {}
      const used = `${turns ? `, ${turns} turns` : ''}${cost_usd ? `, $${cost_usd.toFixed(2)}` : ''}`
      return line(`running for ${Math.round(seconds)} s${session ? ` with ${session.agent}` : ''}${used}`)
    }
    case 'done':
      return line(`done${after}, ${ENDINGS[mission.result ?? 'no_changes'](mission)}`)
    case 'cancelled':
      return line(`cancelled${after}${mission.branch ? `; its work is kept on ${mission.branch}` : ''}`)
    case 'failed':
      return line(`failed${after}${because}`)
    default:
      return line(`${status.replace('_', ' ')}${because}`)
  }
}

const ENDINGS: Record<NonNullable<Briefed['result']>, (mission: Briefed) => string> = {
  landed: ({ landed }) => `landed as ${landed?.commit.slice(0, 10)} on ${landed?.branch}`,
  kept: ({ branch }) => `its work is kept on ${branch}`,
  no_changes: () => 'nothing had to change',
}

/** The stage it has reached. An agent does not say how much of its work is left. */
function progressBar({ status, landing }: Briefed): string {
  const way = landing === 'never' ? ['queued', 'running', 'done'] : ['queued', 'running', 'landing', 'done']
  const reached = REACHED[status] ?? status
  const steps = way.indexOf(reached) + 1
  return `[${'#'.repeat(steps * 2)}${'-'.repeat((way.length - steps) * 2)}] ${steps} of ${way.length}, ${status}`
}

const REACHED: Partial<Record<Briefed['status'], string>> = {
  needs_input: 'running',
  waiting: 'running',
  review: 'landing',
  failed: 'running',
  cancelled: 'running',
}

/** A log line for one event of a transcript; undefined if the event is not worth a line. */
export function logLine(event: Record<string, unknown>): string | undefined {
  const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
  switch (event.type) {
    case 'text':
    case 'raw':
    case 'error':
    case 'thinking':
      return text(event.text).trimEnd() || undefined
    case 'tool_call':
      return `▸ ${event.name} ${clipped(text(event.input), 400)}`
    case 'tool_result':
      return `◂ ${event.failed ? 'failed: ' : ''}${clipped(text(event.output), 400)}`
    case 'said':
      return `» ${text(event.text)}`
    default:
      return undefined
  }
}
