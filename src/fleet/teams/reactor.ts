import { newId } from '../../domain/ids.ts'
import type { Event } from '../../domain/records/event.ts'
import type { Delivery, Member, Team } from '../../domain/records/team.ts'
import * as life from '../../domain/rules/life.ts'
import * as rules from '../../domain/rules/mail.ts'
import { saying } from '../../domain/rules/mail-prompt.ts'
import { holdersOf } from '../../domain/rules/team-task.ts'
import type { Stored } from '../../store/index.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { type Desk, idIn, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all, current, put } from '../records.ts'
import { returnTasks } from '../teamwork/tasks.ts'
import { tellOfCircle } from './circles.ts'
import { handToLive } from './handing.ts'
import { aboutDelivery, limitsOf, mailing } from './mail.ts'
import { agentMemberOf, liveOf, takesMessages } from './sessions.ts'
import { settleSession } from './settling.ts'
import { aboutTeam, membersOf, spentBy } from './teams.ts'

const PAGE = 50

/** Events of missions and sessions after which a member may be told of its mail, or woken. */
const OF_SESSIONS: readonly Event['kind'][] = [
  ...(['session_running', 'adopted', 'session_ended', 'parked', 'cancelled', 'handed_back'] as const),
]

/** Brings mail to members: tells those at work, wakes those that are idle, and reminds those that do not answer. */
export class Teams implements Reactor {
  readonly name = 'teams'
  readonly #fleet: Fleet
  readonly #desk: Desk

  constructor(fleet: Fleet, desk: Desk) {
    this.#fleet = fleet
    this.#desk = desk
  }

  /** Every member for whom something is on its way. */
  async *unfinished(): AsyncGenerator<Ref> {
    const seen = new Set<string>()
    // `due`: who was asked for an answer may be in a circle of members that wait for each other.
    for (const index of ['queued', 'session', 'due'])
      for await (const { value } of all(this.#fleet, 'deliveries', index)) {
        if (seen.has(value.member_id)) continue
        seen.add(value.member_id)
        yield refTo('members', value.member_id)
      }
    // Of somebody who was dismissed, they go back to the team.
    for await (const { value } of all(this.#fleet, 'missions', 'assigned'))
      for (const id of holdersOf(value)) if (!seen.has(id)) yield refTo('members', id)
  }

  async affectedBy({ kind, mission_id, data }: Event): Promise<Ref[]> {
    if (kind === 'mail_sent') return (data.members as string[]).map(id => refTo('members', id))
    if (kind === 'mail_released' || kind === 'member_changed' || kind === 'member_dismissed')
      return [refTo('members', data.member as string)]
    if (kind === 'team_changed') return this.#everybody(data.team as string)
    if (!mission_id || !OF_SESSIONS.includes(kind)) return []
    const mission = (await this.#fleet.store.get('missions', mission_id))?.value
    const member = mission && agentMemberOf(mission)
    return member ? [refTo('members', member)] : []
  }

  async #everybody(teamId: string): Promise<Ref[]> {
    const team = (await this.#fleet.store.get('teams', teamId))?.value
    return (team?.roster ?? []).map(({ member_id }) => refTo('members', member_id))
  }

  async look(ref: Ref): Promise<void> {
    const member = (await this.#fleet.store.get('members', idIn(ref)))?.value
    if (!member) return
    await this.#settle(member)
    if (member.dismissed_at) {
      await returnTasks(this.#fleet, member.id)
      return this.#bounce(member)
    }
    // A person reads their inbox, and what is in a terminal is told there: see `terminals`.
    if (!member.mission_id || member.placement !== 'headless') return
    const { items: queued } = await this.#fleet.store.find('deliveries', {
      ...{ index: 'queued', equals: [member.id], limit: PAGE },
    })
    if (!queued.length) return tellOfCircle(this.#fleet, member)
    const live = await liveOf(this.#fleet, member)
    if (!live) await this.#wake(member, queued)
    else if (takesMessages(this.#fleet, live)) {
      await handToLive(this.#fleet, live, queued)
      if (queued.length === PAGE) this.#desk.lookIn(0, ref)
    }
  }

  /** Mail that was handed to sessions which have ended is heard by now, or queued again. */
  async #settle(member: Member): Promise<void> {
    const open = await Array.fromAsync(all(this.#fleet, 'deliveries', 'open', [member.id]))
    const sessions = new Set(open.flatMap(({ value }) => value.session_id ?? []))
    if (member.session_id) sessions.add(member.session_id)
    for (const id of sessions)
      await settleSession(this.#fleet, id, (await this.#fleet.store.get('sessions', id))?.value)
  }

  /** Whoever wrote to a member that was dismissed learns it. */
  async #bounce(member: Member): Promise<void> {
    for await (const { value: listed } of all(this.#fleet, 'deliveries', 'open', [member.id])) {
      await retryOnConflict(async () => {
        const { value, version } = await current(this.#fleet, 'deliveries', listed.id)
        if (rules.isClosed(value)) return
        const now = this.#fleet.now()
        const reason = `${member.handle} was dismissed.`
        const next: Delivery = { ...value, state: 'bounced', reason, held: null, due_at: null, closed_at: now }
        await this.#fleet.commit('commit.mail-settled', {
          changes: [put('deliveries', next, version)],
          events: [aboutDelivery(next, 'mail_returned', { actor: 'fleet', now })],
        })
      })
    }
  }

  async #wake(member: Member, queued: readonly Stored<Delivery>[]): Promise<void> {
    const ref = refTo('members', member.id)
    await retryOnConflict(async () => {
      const { value, version } = await current(this.#fleet, 'members', member.id)
      const mission = await current(this.#fleet, 'missions', value.mission_id!)
      if (value.dismissed_at || !life.waitsForMail(mission.value)) return
      const { value: team } = await current(this.#fleet, 'teams', value.team_id)
      const by = { actor: 'fleet', now: this.#fleet.now() }
      const waking = await this.#waking(
        value,
        team,
        queued.map(each => each.value),
        by.now,
      )
      if (!waking.wake) {
        if (waking.held?.until) this.#desk.lookIn(Date.parse(waking.held.until) - Date.parse(by.now), ref)
        if (JSON.stringify(waking.held) !== JSON.stringify(value.held)) await this.#hold(value, version, waking.held)
        return
      }
      const wakes = [...rules.wakesSince(value, by.now), by.now]
      const step = life.woken(mission.value, by)
      await this.#fleet.commit('commit.member-woken', {
        changes: [
          put('members', { ...value, wakes, held: null, updated_at: by.now }, version),
          put('missions', step.mission, mission.version),
        ],
        events: step.events,
      })
    })
  }

  async #waking(member: Member, team: Team, queued: readonly Delivery[], now: string): Promise<rules.Waking> {
    const waking = rules.wakingOf({ member, team, queued }, limitsOf(this.#fleet), now)
    if (!waking.wake || team.max_budget_usd === null) return waking
    const spent = await spentBy(this.#fleet, team)
    if (spent < team.max_budget_usd) return waking
    // Everybody in the project reads this, also those who may not see what something cost.
    const text = `The budget of the team ${team.name}, $${team.max_budget_usd}, is spent.`
    return { wake: false, held: { until: null, text } }
  }

  async #hold(member: Member, version: Stored<Member>['version'], held: Member['held']): Promise<void> {
    const team = { id: member.team_id, project_id: member.project_id }
    const now = this.#fleet.now()
    await this.#fleet.commit('commit.member-woken', {
      changes: [put('members', { ...member, held, updated_at: now }, version)],
      events: held
        ? [
            aboutTeam(
              team,
              'member_held',
              { actor: 'fleet', now },
              { member: member.id, handle: member.handle, text: held.text },
            ),
          ]
        : [],
    })
  }

  async pass(): Promise<void> {
    const { items } = await this.#fleet.store.find('deliveries', { index: 'due', limit: PAGE })
    for (const { value } of items) {
      const ms = Date.parse(value.due_at!) - Date.parse(this.#fleet.now())
      if (ms > 0) return this.#desk.passIn(ms)
      await this.#desk.attempt(refTo('deliveries', value.id), () => this.#due(value.id))
    }
    if (items.length === PAGE) this.#desk.passIn(0)
  }

  /** A reminder, then the lead, then the people of the team. Each once. */
  async #due(id: string): Promise<void> {
    await retryOnConflict(async () => {
      const { value, version } = await current(this.#fleet, 'deliveries', id)
      const by = { actor: 'fleet', now: this.#fleet.now() }
      if (rules.isClosed(value) || !value.due_at || value.due_at > by.now) return
      const { value: team } = await current(this.#fleet, 'teams', value.team_id)
      const { value: member } = await current(this.#fleet, 'members', value.member_id)
      if (value.needs === 'none' || value.needs === 'ack') return this.#expire(value, version, by)
      const level = value.escalated + 1
      const last = level >= rules.LADDER.length
      const next: Delivery = {
        ...value,
        escalated: level,
        due_at: last ? null : new Date(Date.parse(by.now) + this.#fleet.settings.replyWithin * 1000).toISOString(),
      }
      const told = await this.#ladder(team, member, level)
      const batch = told.length ? (await this.#reminder(team, value, member, told, by)).batch : { changes: [] }
      await this.#fleet.commit('commit.mail-due', {
        ...batch,
        changes: [...batch.changes, put('deliveries', next, version)],
        events: [...(batch.events ?? []), aboutDelivery(next, 'mail_escalated', by, { level, told })],
      })
    })
  }

  async #expire(delivery: Delivery, version: Stored<Delivery>['version'], by: life.By): Promise<void> {
    // What reached its recipient in time stays as it is.
    const isLate = delivery.state === 'queued'
    const next: Delivery = isLate
      ? {
          ...delivery,
          state: 'expired',
          reason: 'Its deadline came first.',
          held: null,
          due_at: null,
          closed_at: by.now,
        }
      : { ...delivery, due_at: null }
    await this.#fleet.commit('commit.mail-due', {
      changes: [put('deliveries', next, version)],
      events: isLate ? [aboutDelivery(next, 'mail_expired', by)] : [],
    })
  }

  async #ladder(team: Team, member: Member, level: number): Promise<string[]> {
    return rules
      .toldAt(rules.LADDER[level - 1]!, member, await membersOf(this.#fleet, team))
      .map(({ handle }) => handle)
  }

  async #reminder(team: Team, delivery: Delivery, member: Member, to: string[], by: life.By) {
    const mail = (await this.#fleet.store.get('mail', delivery.mail_id))?.value
    const isOwn = to.includes(member.handle)
    const asked = `message ${delivery.mail_id}${mail?.subject ? ` (${saying(mail.subject)})` : ''} of ${mail?.from.handle ?? 'somebody'}`
    const text = isOwn
      ? `Your answer to ${asked} is overdue. Reply to it, or decline it.`
      : `${member.handle} has not answered ${asked}.`
    const body = await this.#fleet.blobs.keep(text)
    const letter = {
      to,
      body,
      subject: 'Overdue',
      priority: 'high' as const,
      needs: 'none' as const,
      deadline: null,
      reply_to: null,
    }
    return mailing(this.#fleet, team.id, 'fleet', { ...letter, wake: true, id: newId() }, by)
  }
}
