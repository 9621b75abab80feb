import type { Mission, StatusReason } from '../records/mission.ts'
import { MAX_ANSWERS_REFUSED } from '../records/plan.ts'
import type { LandingPolicy } from '../records/project.ts'
import type { Report } from '../records/report.ts'
import type { Outcome } from '../records/session.ts'
import type { Told } from '../records/told.ts'
import { mayChangeNothing } from './effective.ts'
import * as landings from './landing.ts'
import type { By, Step } from './life.ts'
import * as life from './life.ts'
import { MAX_HOLD_SECONDS } from './retrying.ts'
import { handedBack, takenOver } from './takeover.ts'
import * as tasks from './team-task.ts'

export const MAX_INTERRUPTIONS = 2
/** After about a week of hourly waits a person should look. */
export const MAX_RATE_LIMITS = 150
export const MAX_CONFLICT_ROUNDS = 2
/** Advice for the person who has to resolve a conflict. */
export const conflictAdvice = (id: string): string =>
  `fleet conflict ${id} shows both sides and where to resolve it, then fleet land ${id}; or fleet retry ${id}`
export const MAX_HAND_OVERS = 2
/** The session ended without an error and without a change, and did not say that none was needed. */
export const NOTHING_DONE = 'nothing_done'
const BACK_OFF_SECONDS = [1, 10, 60, 600]
/** A hold is up to this share longer, so that missions refused together do not return together. */
const JITTER = 0.25

export interface Ended {
  outcome: Outcome
  reason: string
  /** What a person can do about it, if the usual advice does not fit. */
  try?: string
  until?: string
  /** It does not count as an interruption. */
  uncounted?: boolean
  /** Whether git sees work on the branch that is not on the base. */
  changed: boolean
  report: Report | null
  landing: LandingPolicy
  maxRetries: number
  /** Why a person must look before it lands, whatever the policy says. */
  concern: StatusReason | null
  /** Messages that had not reached it when it ended. */
  unheard: Told | null
  /** The question it was parked with. */
  question: string | null
  /** The problem with its answer, and the instructions for the agent; null: none. */
  unusable: { problem: string; instructions: Told } | null
  /** Whether the session added commits to its branch. */
  added: boolean
  /** Whether it has a worktree. Without one nothing lands. */
  isolated: boolean
}

/** The table of the mission's life: what a session's end means for its mission. */
export function ended(asked: Mission, end: Ended, by: By): Step {
  const { mission, handed } = afterHanding({ ...asked, asking: false }, end)
  if (handed) return tasks.handedOn(handed, by, end.unheard)
  if (end.outcome === 'cancelled' || mission.cancel_requested) return life.cancelled(mission, by)
  if (mission.taken_over) return takenOrGiven(mission, end, by)
  switch (end.outcome) {
    case 'completed':
      return completed(mission, end, by)
    case 'blocked':
      return life.toPerson(
        mission,
        { code: 'blocked', text: end.reason, try: `fleet mission resume ${mission.id} --message "…"` },
        by,
      )
    case 'limited':
      return limited(mission, end, by)
    case 'handed_over':
      return handedOver(mission, end, by)
    case 'rate_limited':
      return refused(mission, end, by)
    case 'stalled':
    case 'lost':
      return interrupted(mission, end, by)
    case 'parked':
      if (end.unheard) return told(mission, end.unheard, by)
      if (end.question)
        return life.toPerson(mission, { code: 'question', text: end.question, try: `fleet answer ${mission.id} …` }, by)
      return life.step(
        mission,
        { status: 'waiting', status_reason: { code: 'children', text: end.reason } },
        by,
        'parked',
        { cause: end.reason },
      )
    case 'failed':
      return retryOrFail(mission, end, by)
  }
}

/** A task that goes to another member. Its session may have completed it before it was stopped. */
function afterHanding(mission: Mission, { outcome }: Ended): { mission: Mission; handed?: tasks.Task } {
  const { task } = mission
  if (!task?.handing) return { mission }
  if (outcome !== 'completed') return { mission, handed: { ...mission, task } }
  return {
    mission: { ...mission, cancel_requested: false, task: { ...task, assignee: task.handing.to, handing: null } },
  }
}

const limited = (mission: Mission, end: Ended, by: By): Step =>
  life.toPerson(
    mission,
    {
      code: 'limit',
      text: end.reason,
      try: end.try ?? `Raise the limit with fleet mission edit ${mission.id}, then resume it.`,
    },
    by,
    'limit_reached',
  )

/**
 * Its conversation was full, so the work continues in a fresh one. A mission that fills one after another gets nowhere,
 * so there is a limit.
 */
function handedOver(mission: Mission, end: Ended, by: By): Step {
  if (mission.hand_overs >= MAX_HAND_OVERS) return limited(mission, end, by)
  return life.requeued(
    mission,
    { reason: 'hand_over', ready: true, instructions: end.unheard },
    { code: 'context_full', text: end.reason },
    by,
    { hand_overs: mission.hand_overs + 1 },
  )
}

/** When the agent's session ends, the mission is the person's. When theirs ends, it goes back to the fleet. */
function takenOrGiven(mission: Mission, end: Ended, by: By): Step {
  if (!mission.taken_over?.session_id) return takenOver(mission, end.unheard, by)
  return handedBack(mission, { ...end, failed: end.outcome === 'completed' ? null : end.reason }, by)
}

/** The provider refuses now. The mission tries later without counting this against it, but not for ever. */
function refused(mission: Mission, end: Ended, by: By): Step {
  if (mission.rate_limits >= MAX_RATE_LIMITS) {
    const text = `${end.reason} This was the ${mission.rate_limits + 1}th time in a row.`
    return life.toPerson(mission, { code: 'rate_limited', text, try: `fleet mission resume ${mission.id}` }, by)
  }
  return life.requeued(
    mission,
    { reason: 'resume', ready: true, notBefore: holdUntil(mission, end.until, by.now) },
    { code: 'rate_limited', text: end.reason },
    by,
    { rate_limits: mission.rate_limits + 1 },
  )
}

/**
 * The time the provider named, if it lies ahead and within any window. Otherwise a pause that differs between missions.
 */
function holdUntil({ id, rate_limits }: Mission, told: string | undefined, now: string): string {
  const seconds = (Date.parse(told ?? '') - Date.parse(now)) / 1000
  if (seconds > 0) return later(now, Math.min(seconds, MAX_HOLD_SECONDS))
  return later(now, backOff(rate_limits) * (1 + JITTER * fractionOf(id)))
}

/** Between 0 and 1, and always the same for the same id. */
const fractionOf = (id: string): number => [...id].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 997, 7) / 997

function completed(mission: Mission, end: Ended, by: By): Step {
  const { report } = end
  if (end.unheard) return told(mission, end.unheard, by)
  if (mission.task?.blocked) return tasks.blocked({ ...mission, task: mission.task }, by)
  if (report?.status === 'blocked') {
    return life.toPerson(
      mission,
      {
        code: 'blocked',
        text: report.summary || 'The agent says it is blocked.',
        try: `fleet mission resume ${mission.id} --message "…"`,
      },
      by,
    )
  }
  if (mission.member) return life.idle(mission, by)
  if (end.unusable) return answersAgain(mission, end.unusable, by)
  if (!end.isolated) return life.done(mission, 'kept', by)
  if (!end.changed) return unchanged(mission, end, by)
  if (end.concern) return concerned(mission, end.concern, by)
  switch (end.landing) {
    case 'auto':
    case 'pull-request':
      return landings.toLand(mission, by)
    case 'review':
      return life.toReview(
        mission,
        {
          code: 'policy',
          text: 'Its work waits for review.',
          try: `fleet diff ${mission.id}, then fleet land ${mission.id}`,
        },
        by,
      )
    case 'never':
      // It is checked like a landing, and then kept.
      return mission.check_kept ? landings.toLand(mission, by) : life.done(mission, 'kept', by)
  }
}

const concerned = (mission: Mission, why: StatusReason, by: By): Step =>
  life.toReview(mission, { try: `fleet diff ${mission.id}, then fleet land ${mission.id}`, ...why }, by)

/** Messages that had not reached it when it ended start its next session. */
function told(mission: Mission, instructions: Told, by: By): Step {
  const why = { code: 'unheard', text: 'A person sent a message that it had not received when it ended.' }
  return life.requeued(mission, { reason: 'resume', ready: true, instructions }, why, by)
}

/** The agent is sent back in the same conversation with the problem, a limited number of times. */
function answersAgain(mission: Mission, { problem, instructions }: NonNullable<Ended['unusable']>, by: By): Step {
  const failures = mission.failures + 1
  const why = { code: 'unusable_answer', text: `Its answer cannot be used. ${problem}` }
  if (failures <= MAX_ANSWERS_REFUSED)
    return life.requeued(mission, { reason: 'resume', ready: true, instructions }, why, by, { failures })
  const text = `${why.text} It was asked ${failures} times.`
  const step = life.failed(mission, { ...why, text, try: `fleet logs ${mission.id}` }, by)
  return { ...step, mission: { ...step.mission, failures } }
}

/** No change is fine if none is expected, or if the agent's report says so. Silence is not enough. */
function unchanged(mission: Mission, end: Ended, by: By): Step {
  const said = end.report?.claimed_status
  // Whoever completes a task has said that nothing more is needed.
  const saysSo = said === 'completed_no_changes' || (mission.task !== null && said === 'completed')
  const spoke = (end.report?.summary ?? '').trim() !== ''
  if (end.concern) return concerned(mission, end.concern, by)
  // A stage hands on its report as well as its changes.
  if (saysSo || ((mission.workflow || mayChangeNothing(mission.mission_type)) && spoke))
    return life.done(mission, 'no_changes', by)
  const text = 'The agent ended without an error, but changed nothing and did not report that nothing was needed.'
  return retryOrFail(mission, { ...end, reason: text }, by, NOTHING_DONE)
}

function interrupted(mission: Mission, end: Ended, by: By): Step {
  if (mission.interruptions >= MAX_INTERRUPTIONS && !end.uncounted) {
    return life.failed(
      mission,
      {
        code: end.outcome,
        text: `${end.reason} This was the third time in a row.`,
        try: `fleet mission resume ${mission.id}`,
      },
      by,
    )
  }
  // A member that is stuck again gets a longer pause.
  const pauses = end.outcome === 'stalled' && isOfMember(mission)
  const notBefore = pauses ? later(by.now, backOff(mission.interruptions)) : null
  return life.requeued(
    mission,
    { reason: 'resume', ready: true, notBefore },
    { code: end.outcome, text: end.reason },
    by,
    { interruptions: mission.interruptions + (end.uncounted ? 0 : 1) },
  )
}

function retryOrFail(mission: Mission, end: Ended, by: By, code = 'agent_failed'): Step {
  const failures = mission.failures + 1
  if (failures > end.maxRetries) {
    const tries = failures > 1 ? ` It was tried ${failures} times.` : ''
    const step = life.failed(
      mission,
      { code, text: end.reason + tries, try: `fleet logs ${mission.id}, then fleet retry ${mission.id}` },
      by,
    )
    return { ...step, mission: { ...step.mission, failures } }
  }
  // A member keeps its place and what it has there.
  const reason = isOfMember(mission) ? 'resume' : 'retry'
  return life.requeued(
    mission,
    { reason, ready: true, notBefore: later(by.now, backOff(failures - 1)) },
    { code, text: end.reason },
    by,
    { failures },
  )
}

const isOfMember = ({ member, task }: Mission): boolean => member !== null || task?.assignee?.is_agent === true

const backOff = (times: number): number => BACK_OFF_SECONDS[Math.min(times, BACK_OFF_SECONDS.length - 1)]!
const later = (now: string, seconds: number): string => new Date(Date.parse(now) + seconds * 1000).toISOString()
