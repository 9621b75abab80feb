import type { Session } from '../../domain/records/session.ts'
import type { Delivery } from '../../domain/records/team.ts'
import * as rules from '../../domain/rules/mail.ts'
import type { Stored } from '../../store/index.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { all, put } from '../records.ts'
import { aboutTeam } from './teams.ts'

/** As many deliveries of an ended session fit into one commit. */
const MOST_AT_ONCE = 80

export const handedTo = (fleet: Fleet, sessionId: string): Promise<Stored<Delivery>[]> =>
  Array.fromAsync(all(fleet, 'deliveries', 'session', [sessionId]))

/** Mail that was handed to a session is heard by its end, or queued again. `session`: absent if it was deleted. */
export async function settleSession(fleet: Fleet, id: string, session: Session | undefined): Promise<void> {
  if (session && session.status !== 'ended') return
  const end = {
    completed: session?.outcome === 'completed',
    remembered:
      session !== undefined && session.conversation !== null && fleet.agents.ofSession(session.agent).can.resume,
  }
  const settleSome = () =>
    retryOnConflict(async () => {
      const handed = (await handedTo(fleet, id)).slice(0, MOST_AT_ONCE)
      if (!handed.length) return 0
      const now = fleet.now()
      const next = handed.map(({ value, version }) => ({ value: rules.afterSession(value, end, now), version }))
      const { team_id, project_id, member_id } = handed[0]!.value
      const returned = next.filter(({ value }) => value.state === 'queued').map(({ value }) => value.mail_id)
      const team = { id: team_id, project_id }
      const events = returned.length
        ? [aboutTeam(team, 'mail_returned', { actor: 'fleet', now }, { member: member_id, mails: returned })]
        : []
      const changes = next.map(({ value, version }) => put('deliveries', value, version))
      await fleet.commit('commit.mail-settled', { changes, events })
      return handed.length
    })
  while ((await settleSome()) === MOST_AT_ONCE);
}

/** So many may end one after the other before the teams reactor looks at their member. */
const MOST_EARLIER = 10

/** The next session of a member may start before the teams reactor has seen how the one before ended. */
export async function settleEarlier(fleet: Fleet, { id, member_id }: Session): Promise<void> {
  const query = { index: 'member', equals: [member_id!], newestFirst: true, limit: MOST_EARLIER }
  const { items } = await fleet.store.find('sessions', query)
  for (const { value } of items) if (value.id !== id) await settleSession(fleet, value.id, value)
}
