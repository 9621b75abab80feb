import { NotAllowed } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { isCurrent, type Principal } from '../../domain/records/principal.ts'
import { Session } from '../../domain/records/session.ts'
import type { Member, MemberTerminal } from '../../domain/records/team.ts'
import { inTerminal } from '../../domain/rules/life.ts'
import { sessionToken } from '../../platform/tokens.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { standingHolder } from '../people/tokens.ts'
import { current, put } from '../records.ts'
import { liveOf } from '../teams/sessions.ts'
import { CLOSED, newestIs, terminalEvent } from './opening.ts'

/** The name in place of an agent for a session that a person started. */
export const OUTSIDE = 'outside'

/** A member outside gets a session, whose token speaks for it until then, or until it is dismissed. */
export async function joinOutside(
  fleet: Fleet,
  ask: Ask,
  memberId: string,
  { hours, joined_by }: Pick<Member, 'joined_by'> & { hours: number },
): Promise<{ member: Member; token: string }> {
  await oncePerKey(fleet, ask, async () => {
    const when = by(fleet, ask)
    const { value: member, version } = await current(fleet, 'members', memberId)
    if (member.dismissed_at) throw new NotAllowed(`${member.handle} was dismissed.`)
    if (member.placement !== 'outside')
      throw new NotAllowed(`${member.handle} is a member that the fleet runs.`, { try: 'Join with another name.' })
    if (await liveOf(fleet, member))
      throw new NotAllowed(`${member.handle} has joined already.`, {
        try: `fleet team leave <team> ${member.handle} ends its token; then it can join again.`,
      })
    const mission = await current(fleet, 'missions', member.mission_id!)
    const session = Session.parse({
      ...{ id: newId(), mission_id: mission.value.id, project_id: member.project_id, member_id: member.id },
      ...{ host: fleet.home.host, number: mission.value.sessions + 1, reason: 'outside', agent: OUTSIDE, model: null },
      ...{ status: 'running', worktree_kept: false, created_at: when.now, started_at: when.now },
    })
    const step = inTerminal(mission.value, session, when)
    const terminal: MemberTerminal = { ...CLOSED, session_id: session.id, state: 'unknown', since: when.now }
    const joined_until = new Date(Date.parse(when.now) + hours * 3_600_000).toISOString()
    const next = { ...member, ...newestIs(member, session, when), terminal, joined_until, joined_by }
    return {
      subject: session.id,
      changes: [
        put('missions', step.mission, mission.version),
        put('sessions', session, 'absent'),
        put('members', next, version),
      ],
      events: [...step.events, terminalEvent(next, when)],
    }
  })
  const { value: member } = await current(fleet, 'members', memberId)
  const { value: session } = await current(fleet, 'sessions', member.session_id!)
  return { member, token: await sessionToken(fleet.keys, session) }
}

/** Who let this session in, if that still counts. Null: the owner of the home. Undefined: it does not count any more. */
export async function whoLetIn(fleet: Fleet, { member_id }: Session): Promise<Principal | null | undefined> {
  const by = member_id && (await current(fleet, 'members', member_id)).value.joined_by
  if (!by) return null
  if (by.token_id !== null) return standingHolder(fleet, (await fleet.store.get('tokens', by.token_id))?.value)
  const principal = (await fleet.store.get('principals', by.principal_id))?.value
  return isCurrent(principal, by.epoch, fleet.now()) ? principal : undefined
}
