import { CANCELLABLE, DECIDABLE, DELETABLE, isIn, RETRYABLE, UNDOABLE } from '../../../../src/domain/rules/states.ts'
import type { Name, Output } from '../../api/client.ts'
import type { May } from '../../live/rights.ts'

export type Detail = Output<'get_mission'>
export type Session = Detail['sessions'][number]

/** What the agent of its newest session can do, as far as this page needs it. */
export interface Abilities {
  interrupt: boolean
  liveMessages: 'mid-turn' | 'next-turn' | 'no'
  takeOver: boolean
}

export type Action =
  | 'dispatch'
  | 'land'
  | 'land_anyway'
  | 'resume'
  | 'retry'
  | 'reopen'
  | 'send_back'
  | 'say'
  | 'interrupt'
  | 'undo'
  | 'reconsider'
  | 'reject'
  | 'next'
  | 'fork'
  | 'sub_mission'
  | 'duplicate'
  | 'compare'
  | 'schedule'
  | 'save_template'
  | 'take_over'
  | 'cancel'
  | 'delete'

/** What each needs; null: everybody who sees the mission. */
const NEEDS: Record<Action, Name | null> = {
  dispatch: 'dispatch_mission',
  land: 'land_mission',
  land_anyway: 'land_mission',
  resume: 'resume_mission',
  retry: 'retry_mission',
  reopen: 'reopen_mission',
  send_back: 'send_back_mission',
  say: 'say_to_mission',
  interrupt: 'interrupt_mission',
  undo: 'undo_mission',
  reconsider: 'reconsider_mission',
  reject: 'reject_mission',
  next: 'generate_next',
  fork: 'fork_mission',
  sub_mission: 'create_mission',
  duplicate: 'create_mission',
  compare: null,
  schedule: 'schedule_mission',
  save_template: 'save_template',
  take_over: 'take_over_in_page',
  cancel: 'cancel_mission',
  delete: 'delete_mission',
}

type Known = Pick<
  Detail,
  | 'project_id'
  | 'status'
  | 'status_reason'
  | 'session_id'
  | 'sessions'
  | 'branch'
  | 'result'
  | 'landed'
  | 'cancelling'
  | 'undoing'
  | 'taken_over'
  | 'report'
  | 'evidence'
  | 'pull_request'
>

export const liveSession = ({ sessions, session_id }: Pick<Known, 'sessions' | 'session_id'>): Session | undefined =>
  sessions.find(({ id, status }) => id === session_id && status !== 'ended')

/** Landed work has no branch any more. A ref of the fleet keeps its commits. */
export const isKeptRef = (branch: string): boolean => branch.startsWith('refs/fleet/')

/** Its agent waits for an answer, so answering is the way on. */
export const isAsking = ({ status, status_reason }: Pick<Known, 'status' | 'status_reason'>): boolean =>
  status === 'needs_input' && status_reason?.code === 'question'

/** Whether checks failed on the newest commit they ran on. */
function failsChecks({ evidence }: Pick<Known, 'evidence'>): boolean {
  const newest = evidence.reduce<Known['evidence'][number] | undefined>(
    (latest, each) => (latest && latest.created_at >= each.created_at ? latest : each),
    undefined,
  )
  return evidence.some(each => !each.passed && each.commit === newest?.commit)
}

/** The actions on a mission that are possible and allowed, in the order in which they are offered. */
export function actionsFor(mission: Known, may: May, can?: Abilities): Action[] {
  const { status, result, landed, branch, undoing, cancelling, report, session_id } = mission
  const taken = mission.taken_over !== null
  const free = !taken && !isAsking(mission)
  const live = liveSession(mission)
  const ran = session_id !== null
  const toResume = isIn(RETRYABLE, mission) && free && ran
  const decidable = isIn(DECIDABLE, mission) && free && branch !== null
  const mergedElsewhere = !!landed && mission.pull_request?.merge_commit === landed.commit
  const leftOpen = (report?.next_steps.length ?? 0) + (report?.what_open.length ?? 0) > 0
  const offered: Record<Action, boolean> = {
    dispatch: status === 'draft',
    land: decidable || (status === 'done' && result === 'kept' && branch !== null && !taken),
    land_anyway: decidable && failsChecks(mission),
    resume: toResume,
    retry: isIn(RETRYABLE, mission) && free,
    reopen: status === 'done' && !undoing && !taken,
    send_back: ran && free && (status === 'review' || (status === 'done' && !undoing)),
    say: live !== undefined && !taken && can?.liveMessages !== 'no',
    interrupt: live !== undefined && status === 'running' && !taken && can?.interrupt === true,
    // A merge on GitHub has to be reverted there.
    undo: isIn(UNDOABLE, mission) && landed !== null && !landed.with && !undoing && !mergedElsewhere && free,
    reconsider: status === 'cancelled' && mission.status_reason?.code === 'rejected',
    reject: decidable,
    next: leftOpen,
    fork: ran && live === undefined,
    sub_mission: true,
    duplicate: true,
    compare: ran,
    schedule: true,
    save_template: true,
    take_over: ran && !taken && can?.takeOver === true,
    cancel: isIn(CANCELLABLE, mission) && !cancelling && !taken,
    delete: isIn(DELETABLE, mission) && !undoing && free,
  }
  const isAllowed = (need: Name | null) => need === null || may(need, mission.project_id)
  return (Object.keys(offered) as Action[]).filter(action => offered[action] && isAllowed(NEEDS[action]))
}

/** The most likely action; undefined: there is none. */
export function mainAction(status: Known['status'], offered: readonly Action[]): Action | undefined {
  const wanted: Partial<Record<Known['status'], Action[]>> = {
    draft: ['dispatch'],
    running: ['say'],
    needs_input: ['resume'],
    waiting: ['resume'],
    review: offered.includes('land_anyway') ? ['resume'] : ['land'],
    failed: ['retry'],
    cancelled: ['reconsider', 'resume', 'retry'],
    done: ['land', 'next'],
  }
  return wanted[status]?.find(action => offered.includes(action))
}
