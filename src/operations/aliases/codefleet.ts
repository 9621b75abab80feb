import { join } from 'node:path'
import type { Mission, Status } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { MissionView, SessionView } from '../views.ts'
import type { Detail } from './shared.ts'

/**
 * Workers and workflows as clients of codefleet read them. This file only translates words and shapes, and our
 * operations do the work. codefleet's answers also name files of its own (worker_dir, prompt_path and the like), which
 * do not exist here.
 */
export const WORKER_STATUSES = ['pending', 'running', 'succeeded', 'failed', 'cancelled', 'timed_out'] as const
export type WorkerStatus = (typeof WORKER_STATUSES)[number]

const STATUSES: Record<Status, WorkerStatus> = {
  draft: 'pending',
  queued: 'pending',
  running: 'running',
  waiting: 'running',
  landing: 'running',
  review: 'running',
  needs_input: 'running',
  done: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
}

/** Reasons that end a worker there and wait for a person here. A question does neither. */
const STOPPED: Record<string, WorkerStatus> = { limit: 'timed_out', blocked: 'succeeded', rate_limited: 'failed' }

type Told = Pick<Mission, 'status' | 'status_reason'>
export const workerStatus = ({ status, status_reason }: Told): WorkerStatus =>
  (status === 'needs_input' && STOPPED[status_reason?.code ?? '']) || STATUSES[status]

/** Every status of ours that may appear as one of these. Undefined: all. */
export function ourStatuses(theirs: readonly WorkerStatus[] | undefined): Status[] | undefined {
  if (!theirs?.length) return undefined
  const stopped = Object.values(STOPPED).some(each => theirs.includes(each))
  const ours = Object.keys(STATUSES) as Status[]
  return ours.filter(each => theirs.includes(STATUSES[each]) || (each === 'needs_input' && stopped))
}

const LABELS: Record<WorkerStatus, string> = {
  pending: 'PENDING',
  running: 'RUNNING',
  succeeded: 'OK',
  failed: 'FAILED',
  cancelled: 'CANCELLED',
  timed_out: 'TIMED OUT',
}

const epoch = (time: string | null): number | null => (time === null ? null : Date.parse(time) / 1000)

/** `12s`, `3m 05s`, `1h 02m`; `-` where nothing has begun. */
export function duration(seconds: number | null): string {
  if (seconds === null || seconds < 0) return '-'
  const whole = Math.floor(seconds)
  const two = (value: number): string => String(value).padStart(2, '0')
  if (whole < 60) return `${whole}s`
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`
  return `${Math.floor(whole / 3600)}h ${two(Math.floor((whole % 3600) / 60))}m`
}

const between = (from: string | null, to: string | null, nowMs: number): number | null =>
  from === null ? null : ((to ? Date.parse(to) : nowMs) - Date.parse(from)) / 1000

/** The tag of missions that are workers. Answers leave it out. */
export const WORKER = 'worker'

export function workerAnswer(
  mission: Omit<MissionView, 'sessions'>,
  session: SessionView | undefined,
  project: Pick<Project, 'path'>,
  nowMs: number,
) {
  const status = workerStatus(mission)
  const executor = session?.agent ?? mission.agent
  const model = session?.used_model ?? session?.model ?? mission.model
  const elapsed = duration(between(mission.started_at, mission.ended_at, nowMs))
  const label = `[${LABELS[status]}]`
  return {
    worker_id: mission.id,
    task_name: mission.title,
    status,
    repo_path: join(project.path, mission.subdirectory),
    branch_name: mission.branch,
    worktree_path: session?.worktree_kept ? session.worktree : null,
    model,
    executor,
    created_at: epoch(mission.created_at),
    started_at: epoch(mission.started_at),
    ended_at: epoch(mission.ended_at),
    timeout_seconds: mission.timeout_seconds,
    pid: session?.pid ?? null,
    exit_code: session?.exit_code ?? null,
    retry_count: mission.failures,
    tags: mission.tags.filter(tag => tag !== WORKER),
    metadata: mission.metadata,
    error_message: status === 'succeeded' ? null : (mission.status_reason?.text ?? null),
    elapsed,
    status_label: label,
    summary_line: `${label} ${mission.title} (${executor}/${model ?? 'default'}) — ${elapsed}`,
  }
}

/** The result a worker wrote, with files and commits as git saw them; null: there is none yet. */
export function workerResult({ report, evidence }: Pick<Detail, 'report' | 'evidence'>) {
  if (!report) return null
  const checked = evidence.map(({ command, passed, output }) => ({
    command,
    status: passed ? 'passed' : 'failed',
    details: output.slice(-1000),
  }))
  const claimed = report.what_tested.map(details => ({ command: '', status: 'claimed', details }))
  const told = report.tests.map(({ command, ...test }) => ({ command: command ?? '', ...test }))
  const { status } = report
  return {
    summary: report.summary,
    files_changed: report.files_changed.map(({ path }) => path),
    tests: [...checked, ...told, ...claimed],
    commits: report.commits.map(({ commit }) => commit),
    next_steps: report.next_steps,
    status: status === 'completed' || status === 'completed_no_changes' ? status : 'blocked',
  }
}

export const WORKFLOW_WORDS = {
  making: 'pending',
  running: 'running',
  done: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
} as const satisfies Record<string, WorkerStatus>
export type OurWorkflowStatus = keyof typeof WORKFLOW_WORDS

/** A workflow as our operations return it. */
export interface WorkflowTold {
  id: string
  project_id: string
  name: string
  status: OurWorkflowStatus
  status_reason: { text: string } | null
  created_at: string
  ended_at: string | null
  stages: {
    name: string
    agent: string | null
    model: string | null
    subdirectory: string
    mission_id: string
    status: string
    elapsed_seconds: number | null
  }[]
}

export function workflowAnswer(workflow: WorkflowTold, project: Pick<Project, 'path'>, nowMs: number) {
  const stage_summary = workflow.stages.map((stage, index) => {
    const made = stage.status !== 'made'
    const status = STATUSES[stage.status as Status] ?? 'pending'
    return {
      index,
      name: stage.name,
      executor: stage.agent,
      status,
      worker_id: made ? stage.mission_id : null,
      status_label: `[${LABELS[status]}]`,
      elapsed: duration(stage.elapsed_seconds),
      model: stage.model,
    }
  })
  const status = WORKFLOW_WORDS[workflow.status]
  const elapsed = duration(between(workflow.created_at, workflow.ended_at, nowMs))
  const progress = progressOf(stage_summary.map(stage => stage.status))
  return {
    workflow_id: workflow.id,
    name: workflow.name,
    status,
    repo_path: join(project.path, workflow.stages[0]?.subdirectory ?? ''),
    stage_summary,
    created_at: epoch(workflow.created_at),
    completed_at: epoch(workflow.ended_at),
    error_message: status === 'succeeded' ? null : (workflow.status_reason?.text ?? null),
    elapsed,
    progress,
    summary_line: `[${LABELS[status]}] ${workflow.name} — ${progress} (${elapsed})`,
  }
}

const PROGRESS = { succeeded: 'done', running: 'running', pending: 'pending' } as const

/** `1/3 stages complete (1 done, 2 pending)`. */
function progressOf(statuses: readonly WorkerStatus[]): string {
  const count = (status: WorkerStatus): number => statuses.filter(each => each === status).length
  const going = Object.entries(PROGRESS).map(([status, word]) => ({ word, of: count(status as WorkerStatus) }))
  const failed = statuses.length - going.reduce((sum, { of }) => sum + of, 0)
  const parts = [...going, { word: 'failed', of: failed }].filter(({ of }) => of > 0)
  return `${count('succeeded')}/${statuses.length} stages complete (${parts.map(({ of, word }) => `${of} ${word}`).join(', ')})`
}

const LISTED = ['running', 'succeeded', 'failed', 'pending', 'cancelled', 'timed_out'] as const

/** `5 workers: 2 running, 2 ok, 1 failed`. */
export function listSummary(items: readonly { status: WorkerStatus }[], kind: 'workers' | 'workflows'): string {
  const parts = LISTED.flatMap(status => {
    const of = items.filter(item => item.status === status).length
    return of ? [`${of} ${LABELS[status].toLowerCase()}`] : []
  })
  return `${items.length} ${kind}${parts.length ? `: ${parts.join(', ')}` : ''}`
}
