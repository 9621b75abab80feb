import type { Session } from '../../domain/records/session.ts'
import type { Delivery, Member, Team } from '../../domain/records/team.ts'
import { waitsForMail } from '../../domain/rules/life.ts'
import { wakingOf } from '../../domain/rules/mail.ts'
import { likelyCost, MOST_IN_PROMPT, whyQueued } from '../../domain/rules/mail-outlook.ts'
import type { Fleet } from '../fleet.ts'
import { current } from '../records.ts'
import { limitsOf } from './mail.ts'
import { liveOf, takesMessages } from './sessions.ts'

/** Why a queued message was not told yet, as its sender sees it. */
export async function whyNotTold(fleet: Fleet, delivery: Delivery, member: Member): Promise<string | null> {
  const live = await liveOf(fleet, member)
  const missionId = live?.mission_id ?? member.mission_id
  const query = { index: 'queued', equals: [member.id], limit: MOST_IN_PROMPT }
  const { items } = await fleet.store.find('deliveries', query)
  const recipient = {
    member,
    mission: missionId ? (await fleet.store.get('missions', missionId))?.value : undefined,
    atWork: live && { since: live.created_at, listens: takesMessages(fleet, live) },
    ahead: items.filter(({ value }) => value.order < delivery.order).length,
  }
  return whyQueued(delivery, recipient, fleet.now())
}

export interface Waking {
  /** How many idle agents a message wakes. */
  wakes: number
  /** By what their last sessions cost. Empty: nothing is known. */
  likely_cost_usd: number | null
}

/** What a message that was just sent sets going. */
export async function wakingBy(fleet: Fleet, teamId: string, deliveries: readonly Delivery[]): Promise<Waking> {
  const { value: team } = await current(fleet, 'teams', teamId)
  const woken: Member[] = []
  for (const delivery of deliveries) {
    const member = (await fleet.store.get('members', delivery.member_id))?.value
    if (member && (await isWokenBy(fleet, delivery, member, team))) woken.push(member)
  }
  return {
    wakes: woken.length,
    likely_cost_usd: likelyCost(await Promise.all(woken.map(each => lastCosts(fleet, each)))),
  }
}

/** The teams reactor may have acted on it already. */
async function isWokenBy(fleet: Fleet, delivery: Delivery, member: Member, team: Team): Promise<boolean> {
  const { person, placement, mission_id } = member
  if (!delivery.wakes || delivery.held !== null || person !== null || placement !== 'headless' || !mission_id)
    return false
  const live = await liveOf(fleet, member)
  if (live) return live.created_at >= delivery.created_at
  const { value: mission } = await current(fleet, 'missions', mission_id)
  if (!waitsForMail(mission)) return mission.status === 'queued' && mission.updated_at >= delivery.created_at
  return wakingOf({ member, team, queued: [delivery] }, limitsOf(fleet), fleet.now()).wake
}

const LAST_SESSIONS = 5

async function lastCosts(fleet: Fleet, { id }: Member): Promise<number[]> {
  const query = { index: 'member', equals: [id], newestFirst: true, limit: LAST_SESSIONS }
  const { items } = await fleet.store.find('sessions', query)
  return items.filter(({ value }) => isMeasured(value)).map(({ value }) => value.usage.cost_usd)
}

const isMeasured = ({ status, usage }: Session): boolean => status === 'ended' && usage.turns > 0
