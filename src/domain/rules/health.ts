import { HEALTH_ACTS, HEALTHY, type Health, type HealthAct, type HealthCause, PAUSES_KEPT } from '../records/health.ts'
import type { Session } from '../records/session.ts'
import type { Member, Team } from '../records/team.ts'

interface Watched {
  team: Pick<Team, 'monitor'>
  member: Pick<Member, 'monitor' | 'placement' | 'person' | 'dismissed_at'>
}

/** Whether somebody is watched. Nobody sees the terminal of a person. */
export const isWatched = ({ team, member }: Watched): boolean =>
  (member.monitor.on ?? team.monitor.on) &&
  member.person === null &&
  member.dismissed_at === null &&
  member.placement !== 'outside'

/**
 * Who acts when a session shows no sign of life: the steps of its member's health, or what the settings say about stuck
 * sessions (`stall_policy`). Never both.
 */
export const actsOnQuiet = ({ member_id }: Pick<Session, 'member_id'>, watched: boolean): 'health' | 'session' =>
  member_id !== null && watched ? 'health' : 'session'

/** So many times its longest usual pause is unusual for it. */
const UNUSUAL = 3
const LONGEST_SECONDS = 3600
/** A test suite may take long. */
const WITH_TOOL = 2

/** How long a member may be quiet, in milliseconds: as it was told, or by its own rhythm within bounds. */
export function patienceOf(
  { team, member }: { team: Pick<Team, 'monitor'>; member: Pick<Member, 'monitor' | 'health'> },
  { least, openTools = 0 }: { least: number; openTools?: number },
): number {
  const set = member.monitor.quiet_seconds ?? team.monitor.quiet_seconds
  const usual = Math.max(0, ...member.health.pauses) * UNUSUAL
  const seconds = set ?? Math.min(Math.max(usual, least), Math.max(LONGEST_SECONDS, least))
  return seconds * 1000 * (openTools > 0 ? WITH_TOOL : 1)
}

/**
 * A start, and what the fleet does about a member, make signs of life too. Only those after this time, in milliseconds,
 * are its own.
 */
export const settlesIn = (patienceMs: number): number => Math.min(Math.max(patienceMs / 2, 5000), 60_000)

/** The rhythm after a session. Pauses that change nothing are not written down. */
export function withPause(health: Health, session: Pick<Session, 'id' | 'longest_pause'>, least: number): Health {
  const { pauses } = health
  if (health.paused === session.id) return health
  if (session.longest_pause * UNUSUAL <= least && !pauses.some(pause => pause > 0)) return health
  return { ...health, pauses: [...pauses, session.longest_pause].slice(-PAUSES_KEPT), paused: session.id }
}

/** The steps for each cause. What crashed is started again by its mission, and overdue answers have steps of their own. */
const STEPS: Record<HealthCause, readonly HealthAct[]> = {
  quiet: HEALTH_ACTS,
  crash: [],
  failed: ['lead', 'people'],
  unanswered: ['nudge'],
}

/** These come by time, the others with each new sign. */
const BY_TIME: readonly HealthCause[] = ['failed', 'unanswered']
const SERIOUS: readonly HealthAct[] = ['restart', 'lead', 'people']
/** A step that comes so late was missed by a machine that slept or a server that was away, and waits again. */
const MISSED_MS = 60_000

export interface Trouble {
  cause: HealthCause
  since: string
  text: string
  /** Names one sign of it. */
  sign: string
}

export interface HealthFacts {
  now: string
  isWatched: boolean
  trouble: Trouble | null
  /** It shows signs of life of its own, or has nothing to do. */
  isWell: boolean
  /** What can be done about it now. */
  possible: readonly HealthAct[]
  patienceMs: number
}

export interface Judged {
  health: Health
  /** What is to be done, in the same commit. */
  act: HealthAct | null
}

/** How a member is now, and what follows. The same facts a second time change nothing. */
export function judged(health: Health, facts: HealthFacts): Judged {
  const { now, trouble } = facts
  if (!facts.isWatched || (!trouble && facts.isWell)) return { health: recovered(health, now), act: null }
  if (!trouble) return { health, act: null }
  const isNew = health.state === 'healthy'
  // Somebody may have reminded it already.
  const done = isNew ? health.done.filter(({ at }) => at >= trouble.since) : health.done
  const isSame = !isNew && health.cause === trouble.cause
  const before: Health = {
    ...health,
    ...{ cause: trouble.cause, reason: trouble.text, done },
    since: isNew ? now : health.since,
    due_at: isSame ? health.due_at : null,
  }
  const { act, due_at } = nextStep(before, { ...facts, trouble })
  const acts = act ? [...done, { act, at: now, text: ACTS[act] }] : done
  const isSerious = trouble.cause === 'failed' || acts.some(each => SERIOUS.includes(each.act))
  const state = isSerious ? 'unhealthy' : 'degraded'
  return { health: { ...before, state, due_at, sign: trouble.sign, done: acts }, act }
}

function recovered(health: Health, now: string): Health {
  if (health.state === 'healthy') return health
  const { restarts, restarted, pauses, paused } = health
  return { ...HEALTHY, since: now, restarts, restarted, pauses, paused }
}

function nextStep(
  { cause, done, due_at, sign }: Health,
  { now, trouble, possible, patienceMs }: HealthFacts & { trouble: Trouble },
): { act: HealthAct | null; due_at: string | null } {
  const left = STEPS[cause!].filter(act => possible.includes(act) && !done.some(each => each.act === act))
  const [act] = left
  if (!act) return { act: null, due_at: null }
  const again = new Date(Date.parse(now) + patienceMs).toISOString()
  if (!BY_TIME.includes(cause!)) return { act: trouble.sign === sign ? null : act, due_at: null }
  const late = due_at === null ? 0 : Date.parse(now) - Date.parse(due_at)
  if (late < 0) return { act: null, due_at }
  if (late > MISSED_MS) return { act: null, due_at: again }
  return { act, due_at: left.length > 1 ? again : null }
}

/** A lead or a person reminds it, which is the first step. */
export function nudgedBy(health: Health, now: string): Health {
  if (health.state !== 'healthy' && health.done.some(({ act }) => act === 'nudge')) return health
  const others = health.done.filter(({ act }) => act !== 'nudge')
  return { ...health, done: [...others, { act: 'nudge', at: now, text: 'Somebody reminded it.' }] }
}

const ACTS: Record<HealthAct, string> = {
  nudge: 'It got a message.',
  interrupt: 'It was interrupted.',
  restart: 'Its session was ended, to be started again.',
  lead: 'Its lead was told.',
  people: 'The people of the team were told.',
}

const NEXT: Record<HealthAct, string> = {
  nudge: 'it gets a message',
  interrupt: 'it is interrupted',
  restart: 'it is restarted in the same conversation',
  lead: 'its lead is told',
  people: 'the people of its team are told',
}

/** What comes next, in words. Null: nothing, until it shows signs of life. */
export function nextInWords({ state, cause, done, due_at }: Health, possible: readonly HealthAct[]): string | null {
  if (state === 'healthy' || !cause) return null
  if (cause === 'crash')
    return 'If its session ends badly, it is started again after a longer pause, as often as it may be.'
  const next = STEPS[cause].find(act => possible.includes(act) && !done.some(each => each.act === act))
  if (!next) return null
  return `${due_at ? `At ${due_at}` : 'If it stays quiet'}, ${NEXT[next]}.`
}

const minutes = (seconds: number): string =>
  seconds < 120 ? `${Math.round(seconds)} seconds` : `${Math.round(seconds / 60)} minutes`

/** What is known of a silence: several signs, never the silence of its output alone. */
export function quietInWords({
  seconds,
  openTools,
  life,
  unread,
}: {
  seconds: number
  openTools: number
  life: 'conversation' | 'processes'
  unread: number
}): string {
  const signs = `It has shown no sign of life for ${minutes(seconds)}: no output, no new process or file, and hardly any processor time.`
  const at =
    openTools > 0
      ? ' A tool is at work.'
      : life === 'conversation'
        ? ' No tool is at work: it waits for its model.'
        : ''
  return `${signs}${at}${unread ? ` ${unread} ${unread === 1 ? 'message waits' : 'messages wait'} for it.` : ''}`
}
