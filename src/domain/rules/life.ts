import { NotAllowed, WrongState } from '../errors.ts'
import type { NewEvent } from '../records/event.ts'
import { isListed, type Mission, type Status, type StatusReason } from '../records/mission.ts'
import type { Session, SessionReason } from '../records/session.ts'
import type { Told } from '../records/told.ts'
import { clipped, MAX_CAUSE_CHARS, MAX_REASON_CHARS } from '../text.ts'
import { named } from './named.ts'
import { CANCELLABLE, DECIDABLE, RETRYABLE } from './states.ts'

/** The result of a decision: the new mission, and the events. Nothing is done here. */
export interface Step {
  mission: Mission
  events: NewEvent[]
}

/** Who decides, and when. */
export interface By {
  actor: string
  now: string
}

type EventExtra = Partial<Pick<NewEvent, 'cause' | 'data' | 'session_id'>>

export function about(
  mission: Pick<Mission, 'id' | 'project_id'>,
  kind: NewEvent['kind'],
  by: By,
  extra: EventExtra = {},
): NewEvent {
  const cause = extra.cause && clipped(extra.cause, MAX_CAUSE_CHARS)
  return {
    kind,
    time: by.now,
    actor: by.actor,
    project_id: mission.project_id,
    mission_id: mission.id,
    ...extra,
    ...(cause && { cause }),
  }
}

export function step(
  mission: Mission,
  change: Partial<Mission>,
  by: By,
  kind: NewEvent['kind'],
  extra: EventExtra = {},
): Step {
  const status_reason = change.status_reason && {
    ...change.status_reason,
    text: clipped(change.status_reason.text, MAX_REASON_CHARS),
  }
  const next = { ...mission, ...change, ...(status_reason && { status_reason }), updated_at: by.now }
  // The counts of missions by status are folded from these two.
  const moved = next.status === mission.status ? {} : { was: counted(mission), status: counted(next) }
  return { mission: next, events: [about(next, kind, by, { ...extra, data: { ...moved, ...extra.data } })] }
}

const counted = (mission: Mission): Status | null => (isListed(mission) ? mission.status : null)

/** While a person has taken it over, nobody else may do anything with it. */
export function requireNotTaken({ id, taken_over }: Mission): void {
  if (taken_over)
    throw new NotAllowed(
      `Mission ${id} was taken over at ${taken_over.since} by a ${taken_over.gone ? 'terminal that is gone' : 'person'} (process ${taken_over.terminal.pid}).`,
      {
        try: taken_over.gone ? `fleet takeover --release ${id}` : 'Wait until they hand it back.',
        facts: { taken_over: { by: taken_over.by, since: taken_over.since, gone: taken_over.gone } },
      },
    )
}

/** No person has taken it over, and its agent waits for no answer. If it does, answering is the way on. */
export function requireFree(mission: Mission): void {
  requireNotTaken(mission)
  if (mission.asking)
    throw new NotAllowed(`The agent of mission ${mission.id} waits for an answer.`, {
      try: `fleet answer ${mission.id}, or fleet cancel ${mission.id}`,
    })
}

export function requireStatus(mission: Mission, needs: readonly Status[], hint?: string): void {
  if (!needs.includes(mission.status))
    throw new WrongState('Mission', mission.id, mission.status, needs, { try: hint ?? nextMove(mission) })
}

function nextMove(mission: Mission): string {
  const moves: Partial<Record<Status, string>> = {
    draft: 'mission dispatch',
    failed: 'retry',
    cancelled: 'retry',
    done: 'mission reopen',
    review: 'land',
    needs_input: 'mission resume',
    waiting: 'mission resume',
    running: 'cancel',
  }
  return `fleet ${moves[mission.status] ?? 'show'} ${mission.id}`
}

interface Queueing {
  reason: SessionReason
  ready: boolean
  instructions?: Told | null
  notBefore?: string | null
}

/** The one way into the queue. */
function queued(by: By, q: Queueing): Partial<Mission> {
  return {
    status: 'queued',
    status_reason: null,
    ready: q.ready,
    queued_at: by.now,
    not_before: q.notBefore ?? null,
    next: { reason: q.reason, instructions: q.instructions ?? null },
    cancel_requested: false,
    asking: false,
    approval: null,
    forced: false,
    landing_commit: null,
    landing_looks: 0,
    landing_at: null,
    ended_at: null,
  }
}

/** A person starts it again, so earlier failures no longer count. */
const CLEAN_SLATE: Partial<Mission> = {
  failures: 0,
  interruptions: 0,
  rate_limits: 0,
  hand_overs: 0,
  conflicts: 0,
  result: null,
}

// What people ask for

export function dispatch(
  mission: Mission,
  ready: boolean,
  instructions: Told | null,
  by: By,
  kind: 'dispatched' | 'auto_dispatched' = 'dispatched',
): Step {
  requireStatus(mission, ['draft'])
  return step(mission, { ...CLEAN_SLATE, ...queued(by, { reason: 'first', ready, instructions }) }, by, kind)
}

export const forked = (mission: Mission, instructions: Told | null, by: By): Step =>
  step(mission, queued(by, { reason: 'fork', ready: true, instructions }), by, 'dispatched')

export function retry(mission: Mission, ready: boolean, instructions: Told | null, by: By): Step {
  requireStatus(mission, RETRYABLE)
  requireFree(mission)
  return step(mission, { ...CLEAN_SLATE, ...queued(by, { reason: 'retry', ready, instructions }) }, by, 'retried')
}

export function resume(
  mission: Mission,
  ready: boolean,
  instructions: Told | null,
  by: By,
  extra: EventExtra = {},
): Step {
  requireStatus(mission, RETRYABLE)
  requireFree(mission)
  if (!mission.session_id)
    throw new NotAllowed(`Mission ${mission.id} never ran, so there is nothing to resume.`, {
      try: `fleet retry ${mission.id}`,
    })
  return step(
    mission,
    { ...CLEAN_SLATE, ...queued(by, { reason: 'resume', ready, instructions }) },
    by,
    'resumed',
    extra,
  )
}

export function reopen(
  mission: Mission,
  ready: boolean,
  instructions: Told | null,
  by: By,
  extra: EventExtra = {},
): Step {
  requireStatus(mission, ['done'])
  if (mission.undo) throw new NotAllowed(`Mission ${mission.id} is being undone.`, { try: `fleet show ${mission.id}` })
  const reason = mission.result === 'kept' ? 'resume' : 'reopen'
  return step(mission, { ...CLEAN_SLATE, ...queued(by, { reason, ready, instructions }) }, by, 'reopened', extra)
}

const CANCELLED = 'cancelled'

export function requestCancel(mission: Mission, by: By, reason?: string): Step {
  requireNotTaken(mission)
  // A task whose session is being stopped so that another member goes on can still be cancelled.
  const task = mission.task && { ...mission.task, handing: null }
  if (mission.cancel_requested && !mission.task?.handing)
    throw new NotAllowed(`Mission ${mission.id} is already being cancelled.`, {
      facts: { id: mission.id, is: mission.status },
    })
  requireStatus(mission, CANCELLABLE)
  const why = reason?.trim()
    ? { code: CANCELLED, text: reason.trim(), try: `fleet mission resume ${mission.id}` }
    : null
  // Only the daemon ends processes and landings. Everyone else leaves a wish.
  if (mission.asking || mission.status === 'running' || mission.status === 'landing')
    return step(mission, { task, cancel_requested: true, ...(why && { status_reason: why }) }, by, 'cancel_requested')
  return cancelled(mission, by, why)
}

/** The reason for the cancellation, if one was given. */
const askedBecause = ({ cancel_requested, status_reason }: Mission): StatusReason | null =>
  cancel_requested && status_reason?.code === CANCELLED ? status_reason : null

export function cancelled(mission: Mission, by: By, why: StatusReason | null = askedBecause(mission)): Step {
  const change: Partial<Mission> = {
    status: 'cancelled',
    status_reason: why,
    cancel_requested: false,
    landing_commit: null,
    next: null,
    ended_at: by.now,
  }
  return step(mission, change, by, 'cancelled', why ? { cause: why.text, data: { code: why.code } } : {})
}

const REJECTED = 'rejected'

/** A person decides that finished work does not land; it stays on its branch. */
export function reject(mission: Mission, reason: string | undefined, by: By): Step {
  requireStatus(mission, DECIDABLE)
  requireFree(mission)
  if (!mission.branch)
    throw new NotAllowed(`Mission ${mission.id} has no work to reject.`, { try: `fleet cancel ${mission.id}` })
  return cancelled(mission, by, {
    code: REJECTED,
    text: reason?.trim() || 'A person decided that its work does not land.',
    try: `fleet review reconsider ${mission.id}, or fleet mission resume ${mission.id}`,
  })
}

/** The rejection is taken back. */
export function reconsider(mission: Mission, by: By): Step {
  requireStatus(mission, ['cancelled'])
  if (mission.status_reason?.code !== REJECTED)
    throw new NotAllowed(`Mission ${mission.id} was not rejected.`, { try: `fleet mission resume ${mission.id}` })
  const { mission: next, events } = toReview(
    mission,
    {
      code: 'reconsidered',
      text: 'The rejection was undone. Its work waits for review.',
      try: `fleet diff ${mission.id}, then fleet land ${mission.id}`,
    },
    by,
  )
  return { mission: { ...next, ended_at: null }, events }
}

// What the fleet decides

export function started(mission: Mission, session: Session, by: By): Step {
  requireStatus(mission, ['queued'])
  const change: Partial<Mission> = {
    status: 'running',
    status_reason: null,
    ready: false,
    not_before: null,
    session_id: session.id,
    session_ids: named(mission.session_ids, session.id),
    sessions: session.number,
    started_at: mission.started_at ?? by.now,
    branch: session.branch,
    candidate: null,
    task: mission.task && { ...mission.task, blocked: null },
  }
  return step(mission, change, by, 'session_starting', {
    session_id: session.id,
    data: { agent: session.agent, reason: session.reason },
  })
}

/** `asking`: the agent stays alive and waits for the answer. */
export function asks(mission: Mission, question: { id: string; text: string }, by: By, asking = true): Step {
  const why = { code: 'question', text: question.text, try: `fleet answer ${mission.id} …` }
  return step(mission, { status: 'needs_input', asking, status_reason: why }, by, 'asked', {
    session_id: mission.session_id ?? undefined,
    cause: why.text,
    data: { question: question.id },
  })
}

/** No question is open any more, so the agent continues. */
export const goesOn = (mission: Mission, question: string, by: By): Step =>
  step(mission, { status: 'running', asking: false, status_reason: null }, by, 'answered', { data: { question } })

export function done(mission: Mission, result: 'kept' | 'no_changes', by: By): Step {
  return step(
    mission,
    {
      status: 'done',
      status_reason: null,
      result,
      approval: null,
      landing_commit: null,
      interruptions: 0,
      rate_limits: 0,
      ended_at: by.now,
    },
    by,
    result,
  )
}

export const toReview = (mission: Mission, why: StatusReason, by: By): Step =>
  step(
    mission,
    { status: 'review', status_reason: why, landing_commit: null, approval: null, cancel_requested: false },
    by,
    'review_wanted',
    { cause: why.text, data: { code: why.code } },
  )

export const toPerson = (
  mission: Mission,
  why: StatusReason,
  by: By,
  kind: 'needs_input' | 'conflict' | 'landing_waits' | 'limit_reached' = 'needs_input',
): Step =>
  step(
    mission,
    { status: 'needs_input', status_reason: why, landing_commit: null, cancel_requested: false },
    by,
    kind,
    {
      cause: why.text,
      data: { code: why.code },
    },
  )

export const failed = (mission: Mission, why: StatusReason, by: By): Step =>
  step(
    mission,
    { status: 'failed', status_reason: why, landing_commit: null, cancel_requested: false, ended_at: by.now },
    by,
    'failed',
    { cause: why.text, data: { code: why.code } },
  )

/** The sub-missions it waited for have ended. */
export const childrenEnded = (mission: Mission, by: By): Step =>
  requeued(
    mission,
    { reason: 'children', ready: true },
    { code: 'children', text: 'Its sub-missions have ended, or one of them needs a person.' },
    by,
  )

/** The mission of a team member between two sessions: nothing runs until mail comes. */
export const FOR_MAIL = { code: 'mail', text: 'It waits for mail.' } as const satisfies StatusReason

export const waitsForMail = ({ status, status_reason }: Mission): boolean =>
  status === 'waiting' && status_reason?.code === FOR_MAIL.code

export const idle = (mission: Mission, by: By): Step =>
  step(
    mission,
    { status: 'waiting', status_reason: FOR_MAIL, failures: 0, interruptions: 0, rate_limits: 0, hand_overs: 0 },
    by,
    'parked',
    { cause: FOR_MAIL.text },
  )

/** Its member is in a terminal as long as this session lasts. */
export function inTerminal(mission: Mission, session: Session, by: By): Step {
  requireStatus(mission, ['waiting', 'needs_input', 'failed'])
  requireNotTaken(mission)
  return started({ ...mission, status: 'queued' }, session, by)
}

/** Mail has come for its member. */
export function woken(mission: Mission, by: By): Step {
  if (!waitsForMail(mission)) throw new WrongState('Mission', mission.id, mission.status, ['waiting'])
  return requeued(mission, { reason: 'mail', ready: true }, { code: 'mail', text: 'It has new mail.' }, by)
}

export const dependencyMet = (mission: Mission, on: string, by: By): Step =>
  step(mission, { ready: true }, by, 'dependency_met', { data: { on } })

/** A dependency was reopened or undone before it started. */
export const noLongerReady = (mission: Mission, by: By): Mission => ({ ...mission, ready: false, updated_at: by.now })

export function requeued(
  mission: Mission,
  q: Queueing,
  why: StatusReason,
  by: By,
  change: Partial<Mission> = {},
): Step {
  return step(
    mission,
    { ...change, ...queued(by, q), status_reason: why },
    by,
    q.reason === 'conflict' ? 'conflict' : 'requeued',
    {
      cause: why.text,
      data: { code: why.code, reason: q.reason, not_before: q.notBefore ?? null },
    },
  )
}
