import { NotAllowed } from '../../domain/errors.ts'
import type { Event } from '../../domain/records/event.ts'
import { isOfMember, type Session } from '../../domain/records/session.ts'
import type { Member } from '../../domain/records/team.ts'
import { judged, withPause } from '../../domain/rules/health.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { type Desk, idIn, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all, put } from '../records.ts'
import { sessionBefore } from '../sessions/hand-over.ts'
import { agentMemberOf } from '../teams/sessions.ts'
import { aboutTeam } from '../teams/teams.ts'
import { nudged } from '../terminals/acts.ts'
import { batchOf, healthEvent } from './acting.ts'
import { type Known, knownOf } from './facts.ts'

const PAGE = 50

/** Events of missions and sessions that say how a member is. */
const OF_MISSIONS: readonly Event['kind'][] = [
  ...(['member_quiet', 'member_lively', 'session_running', 'adopted', 'session_ended'] as const),
  ...(['failed', 'cancelled', 'resumed', 'retried', 'parked', 'mission_deleted'] as const),
]
const OF_MEMBERS: readonly Event['kind'][] = [...(['member_changed', 'member_dismissed', 'member_terminal'] as const)]
/** They matter for terminals, where nothing else says whether somebody answers. */
const OF_MAIL: readonly Event['kind'][] = ['mail_sent', 'mail_heard', 'mail_answered']

/**
 * Looks after members: judges how each is by what is written down, and takes one step at a time until it shows signs
 * of life again. Each step is in the commit that notes it.
 */
export class HealthOfMembers implements Reactor {
  readonly name = 'health'
  readonly #fleet: Fleet
  readonly #desk: Desk

  constructor(fleet: Fleet, desk: Desk) {
    this.#fleet = fleet
    this.#desk = desk
  }

  /** Whoever is not well, and whoever is at work. */
  async *unfinished(): AsyncGenerator<Ref> {
    for await (const { value } of all(this.#fleet, 'members', 'ill')) yield refTo('members', value.id)
    for await (const { value } of all(this.#fleet, 'sessions', 'live'))
      if (value.member_id) yield refTo('members', value.member_id)
  }

  async affectedBy({ kind, mission_id, data }: Event): Promise<Ref[]> {
    if (OF_MEMBERS.includes(kind) && data.member) return [refTo('members', data.member as string)]
    if (OF_MAIL.includes(kind)) return this.#inTmux([data.members ?? data.member ?? []].flat() as string[])
    if (kind === 'team_changed' || kind === 'team_deleted') return this.#everybody(data.team as string)
    if (!mission_id || !OF_MISSIONS.includes(kind)) return []
    const mission = (await this.#fleet.store.get('missions', mission_id))?.value
    const member = mission && agentMemberOf(mission)
    return member ? [refTo('members', member)] : []
  }

  async #inTmux(ids: readonly string[]): Promise<Ref[]> {
    const found = await Promise.all(ids.map(id => this.#fleet.store.get('members', id)))
    return found.flatMap(stored => (stored?.value.placement === 'tmux' ? refTo('members', stored.value.id) : []))
  }

  async #everybody(teamId: string): Promise<Ref[]> {
    const team = (await this.#fleet.store.get('teams', teamId))?.value
    return (team?.roster ?? []).flatMap(each => (each.is_agent ? refTo('members', each.member_id) : []))
  }

  async look(ref: Ref): Promise<void> {
    await this.#noteSession(idIn(ref))
    const known = await this.#step(idIn(ref))
    if (!known?.lookAt) return
    const ms = Date.parse(known.lookAt) - Date.parse(this.#fleet.now())
    this.#desk.lookIn(Math.min(Math.max(ms, 0), 2 ** 31 - 1), ref)
  }

  /** Steps that no sign brings are due at a time. */
  async pass(): Promise<void> {
    const { items } = await this.#fleet.store.find('members', { index: 'health_due', limit: PAGE })
    for (const { value } of items) {
      const ms = Date.parse(value.health.due_at!) - Date.parse(this.#fleet.now())
      if (ms > 0) return this.#desk.passIn(ms)
      const ref = refTo('members', value.id)
      await this.#desk.attempt(ref, () => this.#step(value.id).then(() => {}))
    }
    if (items.length === PAGE) this.#desk.passIn(0)
  }

  /** Judges a member and takes the step that follows, if any. */
  async #step(id: string): Promise<Known | undefined> {
    return retryOnConflict(async () => {
      const known = await knownOf(this.#fleet, id)
      if (!known) return undefined
      const { value, version } = known.member
      const { health, act } = judged(value.health, known.facts)
      if (JSON.stringify(health) === JSON.stringify(value.health)) return known
      const when = { actor: 'fleet', now: known.facts.now }
      const batch = act ? await batchOf(this.#fleet, known, act, health, when) : { changes: [] }
      const isTold = act !== null || health.state !== value.health.state || health.cause !== value.health.cause
      await this.#fleet.commit('commit.member-health', {
        ...batch,
        changes: [...batch.changes, put('members', { ...value, health }, version)],
        events: [...(batch.events ?? []), ...(isTold ? [healthEvent(known, health, act, when)] : [])],
      })
      if (act === 'nudge' && value.placement === 'tmux') this.#type(id)
      return known
    })
  }

  /** Nothing is typed unless the screen is idle. If it is not, its client is at work. */
  #type(id: string): void {
    const typed = nudged(this.#fleet, id, undefined).catch(error => {
      if (!(error instanceof NotAllowed)) throw error
    })
    this.#desk.goOn(refTo('members', id), typed)
  }

  /** Counts a restart once, and learns the rhythm from a session that has ended. */
  async #noteSession(id: string): Promise<void> {
    await retryOnConflict(async () => {
      const member = await this.#fleet.store.get('members', id)
      const newest = member?.value.session_id
      // A task that was deleted has taken its sessions with it.
      const session = newest ? (await this.#fleet.store.get('sessions', newest))?.value : undefined
      if (!member || !session) return
      const { health } = member.value
      const isRestart = health.restarted !== session.id && (await this.#isRestart(session))
      const isOver = session.status === 'ended' && !isOfMember(session)
      const rhythm = isOver ? withPause(health, session, this.#fleet.settings.memberQuiet) : health
      if (!isRestart && rhythm === health) return
      const counted = isRestart ? { restarts: health.restarts + 1, restarted: session.id } : {}
      const next = { ...member.value, health: { ...rhythm, ...counted } }
      await this.#fleet.commit('commit.member-health', {
        changes: [put('members', next, member.version)],
        events: isRestart ? [await this.#restarted(next, session)] : [],
      })
    })
  }

  async #isRestart({ number, status, mission_id }: Session): Promise<boolean> {
    if (number === 1 || status !== 'running') return false
    const mission = (await this.#fleet.store.get('missions', mission_id))?.value
    return mission !== undefined && mission.failures + mission.interruptions > 0
  }

  async #restarted({ id, handle, team_id, project_id, health: { restarts } }: Member, session: Session) {
    const reason = (await sessionBefore(this.#fleet, session))?.outcome_reason ?? 'Its session had ended badly.'
    const told = { member: id, handle, session: session.id, restarts, reason }
    const when = { actor: 'fleet', now: this.#fleet.now() }
    return aboutTeam({ id: team_id, project_id }, 'member_restarted', when, told)
  }
}
