import { NotAllowed } from '../errors.ts'
import type { Mission, StatusReason, TakenOver } from '../records/mission.ts'
import type { Told } from '../records/told.ts'
import * as landings from './landing.ts'
import type { By, Step } from './life.ts'
import * as life from './life.ts'

export type { Step } from './life.ts'

type Terminal = TakenOver['terminal']

const MAY_BE_TAKEN = ['queued', 'running', 'needs_input', 'review', 'failed', 'cancelled', 'done'] as const

/** A person wants to take it over. A running agent is stopped first, and the mission says so until it has stopped. */
export function takeOver(mission: Mission, terminal: Terminal, by: By, { page = false } = {}): Step {
  life.requireNotTaken(mission)
  life.requireStatus(mission, MAY_BE_TAKEN)
  const refuse = (why: string): never => {
    throw new NotAllowed(`Mission ${mission.id} ${why}`, { try: `fleet show ${mission.id}` })
  }
  if (mission.undo) refuse('is being undone.')
  if (mission.cancel_requested) refuse('is being cancelled.')
  if (!mission.session_id) refuse('never ran, so there is no conversation to take over.')
  const { status, result, ended_at } = mission
  const taken_over: TakenOver = {
    by: by.actor,
    since: by.now,
    terminal,
    page,
    was: { status, result, ended_at },
    session_id: null,
    gone: false,
    next: null,
    message: null,
  }
  const taken = { ...mission, taken_over }
  if (status === 'running' || mission.asking) return life.step(taken, {}, by, 'takeover_requested')
  return { ...takenOver(taken, null, by) }
}

/** Nobody else works on it, so it is the person's now. `unheard`: messages that never reached the agent. */
export function takenOver(mission: Mission, unheard: Told | null, by: By): Step {
  const taken = mission.taken_over!
  const change: Partial<Mission> = {
    status: 'needs_input',
    status_reason: reasonOf(mission, taken),
    taken_over: { ...taken, message: unheard },
    ready: false,
    not_before: null,
    asking: false,
    landing_commit: null,
    result: null,
    ended_at: null,
  }
  return life.step(mission, change, by, 'taken_over', { data: { by: taken.by } })
}

function reasonOf(mission: Mission, { terminal, since, gone, page }: TakenOver): Mission['status_reason'] {
  if (page)
    return {
      code: 'taken_over',
      text: `Taken over by a person in the browser since ${since}.`,
      try: 'Hand it back on the page of the mission.',
    }
  return gone
    ? {
        code: 'takeover_gone',
        text: `It was taken over at ${since} by a terminal that is gone (process ${terminal.pid}).`,
        try: `fleet takeover --release ${mission.id}`,
      }
    : {
        code: 'taken_over',
        text: `Taken over by a person since ${since} (process ${terminal.pid}).`,
        try: `Leave the client in that terminal; if it hangs, end process ${terminal.pid}, then fleet takeover --release ${mission.id}`,
      }
}

/** The terminal was closed or killed. The mission belongs to nobody until someone hands it back. */
export function terminalGone(mission: Mission, by: By): Step {
  const taken_over = { ...mission.taken_over!, gone: true }
  return life.step(mission, { taken_over, status_reason: reasonOf(mission, taken_over) }, by, 'takeover_gone')
}

/**
 * The server that held a terminal for a page is gone, and the terminal with it. Nobody has to clean up: an agent that was
 * not stopped yet continues, and otherwise the work waits for review.
 */
export const pageGone = (mission: Mission, isAgentLive: boolean, by: By): Step =>
  handBack(mission, isAgentLive ? 'resume' : 'keep', null, by)

export type Then = NonNullable<TakenOver['next']>

/** The person has left. The daemon commits their changes and continues as they chose. */
export function handBack(mission: Mission, next: Then, message: Told | null, by: By): Step {
  const taken = requireTaken(mission)
  const taken_over = { ...taken, next, message: message ?? taken.message }
  return life.step(mission, { taken_over }, by, 'hand_back_requested', { data: { next } })
}

export function requireTaken(mission: Mission): TakenOver {
  if (mission.taken_over) return mission.taken_over
  throw new NotAllowed(`Mission ${mission.id} is not taken over.`, { try: `fleet takeover ${mission.id}` })
}

/** It was handed back before the agent was stopped, so the agent continues as if nobody had asked. */
export const notTaken = (mission: Mission, by: By): Step =>
  life.step(mission, { taken_over: null }, by, 'handed_back', { data: { next: 'resume' } })

export interface Left {
  /** Why the hand-back failed, if it did. */
  failed: string | null
  /** Whether git sees work that is not on the base branch. */
  changed: boolean
  /** Whether the person added work. */
  added: boolean
  concern: StatusReason | null
}

/** What happens to a mission that a person hands back. */
export function handedBack(taken: Mission, left: Left, by: By): Step {
  const { next, was, message } = taken.taken_over!
  const mission: Mission = { ...taken, taken_over: null }
  const look = `fleet diff ${mission.id}, then fleet land ${mission.id} or fleet mission resume ${mission.id}`
  if (left.failed !== null || !next)
    return life.toPerson(
      mission,
      { code: 'takeover_failed', text: left.failed ?? 'It could not be taken over.', try: look },
      by,
    )
  if (next === 'resume') return life.resume(mission, true, message, by)
  if (was.status === 'done' && !left.added)
    return life.step(mission, { ...was, status_reason: null }, by, 'handed_back', { data: { next } })
  if (left.concern) return life.toReview(mission, { try: look, ...left.concern }, by)
  if (next === 'land') return left.changed ? landings.requestLanding(mission, by) : life.done(mission, 'no_changes', by)
  const text = 'A person took it over and left its work to be looked at.'
  return life.toReview(mission, { code: 'handed_back', text, try: look }, by)
}
