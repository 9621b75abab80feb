import { NotAllowed, Unfit } from '../../domain/errors.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
import type { Message } from '../../domain/records/talk.ts'
import { heard } from '../../domain/rules/mail.ts'
import type { Reason } from '../../domain/rules/waiting.ts'
import { placeAt } from '../../git/index.ts'
import type { Change } from '../../store/index.ts'
import type { Fleet } from '../fleet.ts'
import { current, put } from '../records.ts'
import { retire } from '../worktrees/retiring.ts'

/** Why a member's next session does not start, although its mission is queued. */
export async function memberHold(fleet: Fleet, { member }: Mission): Promise<Reason | null> {
  if (!member) return null
  const { value } = await current(fleet, 'members', member.id)
  const { value: team } = await current(fleet, 'teams', member.team_id)
  if (team.paused) return { kind: 'paused', text: `the team ${team.name} is paused` }
  if (value.paused) return { kind: 'paused', text: `${value.handle} is paused` }
  return null
}

/** A member has one live session at most. Its record names the newest one, in the commit that starts it. */
export async function ofMember(fleet: Fleet, session: Session): Promise<Change[]> {
  if (!session.member_id) return []
  const { value, version } = await current(fleet, 'members', session.member_id)
  if (value.dismissed_at) throw new NotAllowed(`${value.handle} was dismissed.`)
  const newest = { session_id: session.id, generation: value.generation + 1, updated_at: session.created_at }
  return [put('members', { ...value, ...newest }, version)]
}

/** A member works in one place for life. What its last branch had is taken in before another one is checked out there. */
export async function clearOfEarlier(fleet: Fleet, next: Session, project: Project): Promise<void> {
  const { worktree, branch } = next
  const found = placeAt(worktree!)?.record.branch
  if (!found || found === branch) return
  const { items } = await fleet.store.find('sessions', {
    index: 'place',
    equals: [worktree!],
    newestFirst: true,
    limit: 20,
  })
  const earlier = items.find(({ value }) => value.branch === found)?.value
  const left = earlier && (await retire(fleet, earlier, project, { next }))
  if (left) throw new Unfit(`${worktree} has work that no commit holds. ${left}`, { try: `Commit or remove it there.` })
}

/** A message to a live session that was mail is heard as mail too. */
export async function heardAsMail(fleet: Fleet, { delivery_id }: Message, now: string): Promise<Change[]> {
  const delivery = delivery_id ? await fleet.store.get('deliveries', delivery_id) : undefined
  if (delivery?.value.state !== 'handed') return []
  return [put('deliveries', heard(delivery.value, 'echo', now), delivery.version)]
}

/** Whether it can be told something before its turn is over. */
export function takesMessages(fleet: Fleet, { status, agent, reason }: Session): boolean {
  return status === 'running' && reason !== 'takeover' && fleet.agents.ofSession(agent).can.liveMessages !== 'no'
}
