import type { Mission } from '../records/mission.ts'
import type { Report } from '../records/report.ts'
import type { StageStatus } from '../records/stage-status.ts'
import type { Stage, Workflow } from '../records/workflow.ts'
import { keyOf } from './template.ts'

/**
 * How a stage ended, for its workflow. A stage that has to choose a winner failed if it named none that ended well, and
 * one that has to ask failed if no person answered it.
 */
export function stageStatus(
  { status, status_reason }: Pick<Mission, 'status' | 'status_reason'>,
  report: Pick<Report, 'status'> | undefined,
  { chooses, hasWinner, asks, wasAnswered }: Partial<Pick<Stage, 'chooses' | 'asks'> & Known> = {},
): StageStatus {
  if (chooses && !hasWinner) return 'failed'
  if (asks && status === 'done' && !wasAnswered) return 'failed'
  if (status === 'done') return report?.status === 'blocked' ? 'blocked' : 'completed'
  return status_reason?.code === 'skipped' ? 'skipped' : 'failed'
}

interface Known {
  hasWinner: boolean
  wasAnswered: boolean
}

/** The winner that a choosing stage named: the last name after "winner" in its report. */
export function namedWinner(stages: readonly Stage[], { chooses }: Stage, said: string): number | undefined {
  const named = [...said.matchAll(/winner["'*\s]*[:=]["'*\s]*([^"'\n*,}]+)/gi)].at(-1)?.[1]
  return chooses?.find(index => named && keyOf(stages[index]!.name) === keyOf(named.trim()))
}

/** What is known about another stage when one is judged. */
export interface StageFacts {
  /** null: it is not over. */
  settled: StageStatus | null
  /** The summary of its report. */
  says: string
}

export type Verdict = 'go' | 'skip' | 'wait'

/** The failed stages that this one replaces. */
const replacedBy = (stages: readonly Stage[], index: number): number[] =>
  stages.flatMap(({ on_failure }, at) => (typeof on_failure === 'object' && on_failure.run === index ? [at] : []))

/** A stage, its replacement, the replacement of that, and so on. */
function withReplacements(stages: readonly Stage[], index: number): number[] {
  const { on_failure } = stages[index]!
  return [index, ...(typeof on_failure === 'object' ? withReplacements(stages, on_failure.run) : [])]
}

/** The stages that the verdict on one depends on. */
export function judgedBy(stages: readonly Stage[], index: number): number[] {
  const { depends_on, when } = stages[index]!
  const waitedFor = depends_on.flatMap(each => withReplacements(stages, each))
  return [...new Set([...replacedBy(stages, index), ...waitedFor, ...(when ? [when.stage] : [])])]
}

/** Whether a stage that has not begun may begin, is skipped, or waits. */
export function verdictOn(stages: readonly Stage[], index: number, facts: (index: number) => StageFacts): Verdict {
  const replaced = replacedBy(stages, index).map(each => facts(each).settled)
  if (replaced.length) {
    if (replaced.includes(null)) return 'wait'
    return replaced.includes('failed') ? 'go' : 'skip'
  }
  const { depends_on, when } = stages[index]!
  if (!depends_on.every(each => isOut(stages, each, facts))) return 'wait'
  return !when || holds(when, facts(when.stage)) ? 'go' : 'skip'
}

/** Whether later stages no longer wait for this one. */
function isOut(stages: readonly Stage[], index: number, facts: (index: number) => StageFacts): boolean {
  const { settled } = facts(index)
  const { on_failure } = stages[index]!
  if (!settled) return false
  if (settled !== 'failed' || on_failure === 'continue') return true
  return typeof on_failure === 'object' && isOut(stages, on_failure.run, facts)
}

function holds(when: NonNullable<Stage['when']>, { settled, says }: StageFacts): boolean {
  if (when.status && !(settled && when.status.includes(settled))) return false
  if (when.lacks_line && hasLine(says, when.lacks_line)) return false
  return !when.says || says.toLowerCase().includes(when.says.toLowerCase())
}

/** Whether a line is only these words. Marks around them, such as those of Markdown, do not count. */
const hasLine = (text: string, words: string): boolean => text.split('\n').some(line => bare(line) === bare(words))
const bare = (text: string): string =>
  text
    .replace(/[^\p{L}\p{N} ]+/gu, '')
    .trim()
    .toLowerCase()

const MOST_NAMED = 20

/** The counts of a workflow after a stage began, ended, was skipped or was sent back. */
export const counted = {
  begun: (workflow: Workflow): Workflow => ({ ...workflow, open: workflow.open + 1 }),
  skipped: (workflow: Workflow): Workflow => ({ ...workflow, over: workflow.over + 1 }),
  /** `lands`: it chose a winner, which is at work again until it has landed. */
  ended: (workflow: Workflow, stage: Stage, settled: StageStatus, lands: boolean): Workflow => {
    const stops = settled === 'failed' && stage.on_failure === 'stop'
    return {
      ...workflow,
      open: workflow.open - (lands ? 0 : 1),
      over: workflow.over + (lands ? 0 : 1),
      failed: stops ? [...workflow.failed, stage.name].slice(0, MOST_NAMED) : workflow.failed,
    }
  },
  reopened: (workflow: Workflow, { name }: Stage): Workflow => ({
    ...workflow,
    status: 'running',
    status_reason: null,
    open: workflow.open + 1,
    over: workflow.over - 1,
    failed: workflow.failed.filter(each => each !== name),
    ended_at: null,
  }),
}

/** How a workflow ends, once nothing is running and nothing more can begin; null: it continues. */
export function endOf({
  id,
  status,
  open,
  over,
  stages,
  failed,
}: Workflow): Pick<Workflow, 'status' | 'status_reason'> | null {
  if (status !== 'running' || open > 0) return null
  if (over === stages && failed.length === 0) return { status: 'done', status_reason: null }
  const text = `Failed: ${failed.join(', ')}.`
  return { status: 'failed', status_reason: { code: 'stage_failed', text, try: `fleet workflow retry ${id}` } }
}
