import type { HealthAct } from '../../domain/records/health.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Session } from '../../domain/records/session.ts'
import type { Delivery, Member, Team } from '../../domain/records/team.ts'
import { type HealthFacts, isWatched, patienceOf, type Trouble } from '../../domain/rules/health.ts'
import { toldAt } from '../../domain/rules/mail.ts'
import type { Stored } from '../../store/index.ts'
import type { Fleet } from '../fleet.ts'
import { current } from '../records.ts'
import { agentMemberOf } from '../teams/sessions.ts'
import { membersOf } from '../teams/teams.ts'

export interface Known {
  member: Stored<Member>
  team: Team
  /** Its newest session, live or not. */
  session: Stored<Session> | undefined
  /** What that session works at. */
  mission: Stored<Mission> | undefined
  facts: HealthFacts
  /** When to look again although nothing happens. */
  lookAt: string | null
}

const PAGE = 50
const BAD: readonly (Session['outcome'] | undefined)[] = ['failed', 'stalled', 'lost']

/** Everything that says how a member is. Nothing is remembered beside the records. */
export async function knownOf(fleet: Fleet, memberId: string): Promise<Known | undefined> {
  const read = await recordsOf(fleet, memberId)
  if (!read) return undefined
  const { of, member, session, mission } = read
  const { team } = of
  const now = fleet.now()
  const patienceMs = patienceOf(of, { least: fleet.settings.memberQuiet })
  const watched = isWatched(of) && !team.ended_at
  const unanswered = watched ? await unansweredBy(fleet, of, patienceMs) : undefined
  const isDue = unanswered !== undefined && unanswered.at <= now
  const trouble = quietTrouble(of) ?? (await badEnd(fleet, of)) ?? (isDue ? unanswered.trouble : null)
  return {
    ...{ member, team, session, mission },
    facts: {
      ...{ now, trouble, patienceMs, isWatched: watched, isWell: isWell(of, unanswered !== undefined) },
      possible: trouble ? await possible(fleet, of) : [],
    },
    lookAt: unanswered && !isDue ? unanswered.at : null,
  }
}

async function recordsOf(fleet: Fleet, memberId: string) {
  const member = await fleet.store.get('members', memberId)
  if (!member || member.value.person !== null) return undefined
  const { team_id, session_id, mission_id } = member.value
  const { value: team } = await current(fleet, 'teams', team_id)
  const session = session_id ? await fleet.store.get('sessions', session_id) : undefined
  const mission = session && (await fleet.store.get('missions', session.value.mission_id))
  const isOwn = mission?.value.id === mission_id
  const own = isOwn ? mission : mission_id ? await fleet.store.get('missions', mission_id) : undefined
  const of: Of = { member: member.value, team, session: session?.value, mission: mission?.value, own: own?.value }
  return { member, session, mission, of }
}

interface Of {
  member: Member
  team: Team
  session: Session | undefined
  mission: Mission | undefined
  own: Mission | undefined
}

type Live = Session & { status: 'starting' | 'running' }
const isLive = (session: Session | undefined): session is Live => session !== undefined && session.status !== 'ended'

function quietTrouble({ session }: Of): Trouble | null {
  const quiet = isLive(session) && !session.stopping ? session.quiet : null
  if (quiet?.state !== 'quiet') return null
  const { since, signs, text } = quiet
  return { cause: 'quiet', since, text, sign: `${session!.id} ${since} ${signs}` }
}

/** What its newest session worked at, unless somebody else has that now, and its mail. */
async function badEnd(fleet: Fleet, { member, session, mission, own }: Of): Promise<Trouble | null> {
  if (member.placement === 'tmux') return closedTerminal(fleet, member)
  const isIts = mission && agentMemberOf(mission) === member.id ? mission : undefined
  for (const each of [isIts, own])
    if (each?.status === 'failed')
      return {
        cause: 'failed',
        since: each.ended_at ?? each.updated_at,
        text: each.status_reason?.text ?? 'Its session failed.',
        sign: `${each.id} ${each.ended_at}`,
      }
  if (!isIts || isIts.failures + isIts.interruptions === 0) return null
  if (isLive(session) ? session.quiet?.state === 'lively' : isIts.status !== 'queued') return null
  const since = isIts.queued_at ?? isIts.updated_at
  const times = isIts.failures + isIts.interruptions
  const why = isLive(session) ? '' : ` ${isIts.status_reason?.text ?? ''}`
  const text = `${times === 1 ? 'Its last session' : `Its last ${times} sessions`} ended badly.${why}`
  return { cause: 'crash', since, text, sign: `${isIts.id} ${times}` }
}

/** Its client has ended, and mail waits for it. Whoever closed it with nothing to do needs no word about it. */
async function closedTerminal(fleet: Fleet, { id, terminal, paused }: Member): Promise<Trouble | null> {
  if (terminal?.state !== 'ended' || paused) return null
  const { items } = await fleet.store.find('deliveries', { index: 'queued', equals: [id], limit: 1 })
  if (!items.length) return null
  const { since, text } = terminal
  const why = text ?? 'Its client has ended.'
  return { cause: 'failed', since, text: `${why} Mail waits for it.`, sign: `${terminal.session_id} ${since}` }
}

interface Unanswered {
  /** From when on it counts. */
  at: string
  trouble: Trouble
}

/** A client in a terminal that is idle, although it was told something that needs an answer. */
async function unansweredBy(
  fleet: Fleet,
  { member, session }: Of,
  patienceMs: number,
): Promise<Unanswered | undefined> {
  const { placement, terminal, id } = member
  if (placement !== 'tmux' || terminal?.state !== 'idle' || !isLive(session)) return undefined
  const { items } = await fleet.store.find('deliveries', { index: 'open', equals: [id], limit: PAGE })
  const told = items.map(({ value }) => value).filter(isTold)
  const first = told.map(({ heard_at }) => heard_at!).toSorted()[0]
  if (!first) return undefined
  const idle = first > terminal.since ? first : terminal.since
  const many = told.length === 1 ? 'a message' : `${told.length} messages`
  return {
    at: new Date(Date.parse(idle) + patienceMs).toISOString(),
    trouble: {
      // A reminder since then counts, although it made its terminal busy.
      ...{ cause: 'unanswered', since: first, sign: first },
      text: `Its client is idle, but it has not answered ${many} that it was told.`,
    },
  }
}

const isTold = ({ state, needs, heard_at }: Delivery): boolean =>
  state === 'heard' && needs !== 'none' && heard_at !== null

/** It shows signs of life of its own, or there is nothing it should be doing. */
function isWell({ member, session, mission }: Of, owesAnswer: boolean): boolean {
  // What a reminder makes its terminal show is no answer.
  if (member.placement === 'tmux') return !owesAnswer
  if (isLive(session)) return session.quiet?.state === 'lively'
  return !BAD.includes(session?.outcome) || mission === undefined || mission.status !== 'queued'
}

/** What can be done about a member now. */
export async function possibleFor(fleet: Fleet, memberId: string): Promise<readonly HealthAct[]> {
  const read = await recordsOf(fleet, memberId)
  return read ? possible(fleet, read.of) : []
}

async function possible(fleet: Fleet, { member, team, session, mission }: Of): Promise<HealthAct[]> {
  const present = await membersOf(fleet, team)
  const told = (step: 'lead' | 'people') => toldAt(step, member, present).length > 0
  const isAtWork = member.placement === 'headless' && isLive(session) && session.status === 'running'
  const can = session && fleet.agents.ofSession(session.agent).can
  return [
    'nudge' as const,
    ...(isAtWork && can?.interrupt && mission && !mission.asking ? (['interrupt'] as const) : []),
    ...(isAtWork ? (['restart'] as const) : []),
    ...(told('lead') ? (['lead'] as const) : []),
    ...(told('people') ? (['people'] as const) : []),
  ]
}
