import { existsSync } from 'node:fs'
import { NotAllowed, Unfit } from '../../domain/errors.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import { isInTerminal, isOfMember, type Session } from '../../domain/records/session.ts'
import type { Message } from '../../domain/records/talk.ts'
import type { Member } from '../../domain/records/team.ts'
import { heard } from '../../domain/rules/mail.ts'
import type { Reason } from '../../domain/rules/waiting.ts'
import { placeAt } from '../../git/index.ts'
import { type Change, Conflict } from '../../store/index.ts'
import type { Fleet } from '../fleet.ts'
import { endSideProcesses, sideProcessesIn } from '../previews/processes.ts'
import { current, put } from '../records.ts'
import { retire } from '../worktrees/retiring.ts'

/** The agent of a team whose session a mission starts: its own mission, or a task that it has. */
export const agentMemberOf = ({ member, task }: Mission): string | null =>
  member?.id ?? (task?.assignee?.is_agent ? task.assignee.member_id : null)

/** Why a member's next session does not start, although its mission is queued. */
export async function memberHold(fleet: Fleet, mission: Mission): Promise<Reason | null> {
  const { task } = mission
  if (task && !task.assignee) return { kind: 'member', text: 'it waits for a member to take it' }
  if (task && !task.assignee?.is_agent) return { kind: 'person', text: `${task.assignee!.handle}, a person, has it` }
  const id = agentMemberOf(mission)
  if (!id) return null
  const { value } = await current(fleet, 'members', id)
  const { value: team } = await current(fleet, 'teams', value.team_id)
  if (value.dismissed_at) return { kind: 'member', text: `${value.handle} was dismissed` }
  if (value.placement !== 'headless')
    return { kind: 'member', text: `${value.handle} works in a terminal of its own, where the fleet starts nothing` }
  if (team.paused) return { kind: 'paused', text: `the team ${team.name} is paused` }
  if (value.paused) return { kind: 'paused', text: `${value.handle} is paused` }
  const live = await liveOf(fleet, value)
  if (live && live.mission_id !== mission.id)
    return { kind: 'member', on: [live.mission_id], text: `${value.handle} is at work on something else` }
  // What it has begun goes on before it begins anything else.
  const begun = task && mission.sessions === 0 ? await begunBy(fleet, id) : undefined
  return begun ? { kind: 'member', on: [begun.id], text: `${value.handle} goes on with ${begun.title} first` } : null
}

const begunBy = async (fleet: Fleet, id: string): Promise<Mission | undefined> =>
  (await fleet.store.find('missions', { index: 'begun', equals: [id], limit: 1 })).items[0]?.value

export async function liveOf(fleet: Fleet, { session_id }: Member): Promise<Session | undefined> {
  const session = session_id ? (await fleet.store.get('sessions', session_id))?.value : undefined
  return session?.status === 'ended' ? undefined : session
}

/** What concerns a client that the fleet runs is refused for one in a terminal. */
export function requireNoTerminal(session: Session): void {
  if (session.status === 'ended' || !isOfMember(session)) return
  throw new NotAllowed('It is a member of a team in a terminal of its own.', {
    try: 'Write to it with fleet mail send, or look at it with fleet member attach.',
  })
}

/** The newest session of a member: its conversation goes on from there, in its place. */
export async function newestOf(fleet: Fleet, memberId: string): Promise<{ member: Member; newest?: Session }> {
  const { value: member } = await current(fleet, 'members', memberId)
  const newest = member.session_id ? await fleet.store.get('sessions', member.session_id) : undefined
  return { member, newest: newest?.value }
}

/**
 * A member has one live session at most, whatever it works at. Its record names the newest one, in the commit that
 * starts it.
 */
export async function ofMember(fleet: Fleet, session: Session): Promise<Change[]> {
  if (!session.member_id) return []
  const { value, version } = await current(fleet, 'members', session.member_id)
  if (value.dismissed_at) throw new NotAllowed(`${value.handle} was dismissed.`)
  if (await liveOf(fleet, value)) throw new Conflict('members', value.id)
  const newest = { session_id: session.id, generation: value.generation + 1, updated_at: session.created_at }
  const continues = session.copies ? value.continues : null
  return [put('members', { ...value, ...newest, continues }, version)]
}

/** The member whose session it was, for the commits with its work. */
export async function memberOf(fleet: Fleet, { member_id }: Session): Promise<string | undefined> {
  const member = member_id ? (await fleet.store.get('members', member_id))?.value : undefined
  const team = member && (await fleet.store.get('teams', member.team_id))?.value
  return member && `${member.handle} (${team?.name ?? 'a team'})`
}

/** Mail was to start a session, but a task of its member took it along. */
export async function isIdleWake(fleet: Fleet, { member, next }: Mission): Promise<boolean> {
  if (!member || next?.reason !== 'mail' || next.instructions) return false
  return !(await fleet.store.find('deliveries', { index: 'queued', equals: [member.id], limit: 1 })).items.length
}

/** The mission whose text is a member's charter: for an agent that runs scripts, it is what each session runs. */
export async function charterOf(fleet: Fleet, mission: Mission): Promise<Mission> {
  const id = mission.task && agentMemberOf(mission)
  if (!id) return mission
  const { value: member } = await current(fleet, 'members', id)
  return (await current(fleet, 'missions', member.mission_id!)).value
}

/** A member works in one place for life. What its last branch had is taken in before another one is checked out there. */
export async function clearOfEarlier(fleet: Fleet, next: Session, project: Project): Promise<void> {
  const { worktree, branch } = next
  const { items } = await fleet.store.find('sessions', {
    index: 'place',
    equals: [worktree!],
    newestFirst: true,
    limit: 20,
  })
  const inPlace = placeAt(worktree!)?.record.branch
  // A linked worktree does not say whose it is: the session before does.
  const linked = existsSync(worktree!) ? items.find(({ value }) => value.id !== next.id)?.value.branch : undefined
  const found = inPlace ?? linked
  if (!found || found === branch) return
  const earlier = items.find(({ value }) => value.branch === found)?.value
  if (earlier)
    await endSideProcesses(fleet, await sideProcessesIn(fleet, earlier), 'Its member works at something else now.')
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
  return status === 'running' && !isInTerminal({ reason }) && fleet.agents.ofSession(agent).can.liveMessages !== 'no'
}
