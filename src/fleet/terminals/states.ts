import { newId } from '../../domain/ids.ts'
import type { Member, MemberTerminal } from '../../domain/records/team.ts'
import { clipped, MAX_REASON_CHARS } from '../../domain/text.ts'
import type { Batch } from '../../store/index.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { current, put } from '../records.ts'
import { mailing } from '../teams/mail.ts'
import { membersOf } from '../teams/teams.ts'
import { terminalEvent } from './opening.ts'

type Change = Partial<Pick<MemberTerminal, 'pane' | 'state' | 'text' | 'asked'>>

/** Notes how the terminal of a session is. Nothing is written if it is so already. */
export async function noteTerminal(fleet: Fleet, memberId: string, sessionId: string, change: Change): Promise<void> {
  await retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'members', memberId)
    const { terminal } = value
    if (!terminal || terminal.session_id !== sessionId) return
    const text = change.text === undefined || change.text === null ? null : clipped(change.text, MAX_REASON_CHARS)
    const state = change.state ?? terminal.state
    const isNew = state !== terminal.state
    if (!isNew && text === terminal.text && !change.pane && (change.asked ?? terminal.asked) === terminal.asked) return
    const when = { actor: 'fleet', now: fleet.now() }
    const next: Member = {
      ...value,
      terminal: {
        ...{ ...terminal, ...change, state, text },
        ...(isNew && { since: when.now, asked: change.asked ?? false }),
      },
    }
    await fleet.commit('commit.terminal', {
      changes: [put('members', next, version)],
      events: [terminalEvent(next, when)],
    })
  })
}

/** Tells the people of its team once that a terminal needs them. They find it in their inbox. */
export async function askPeople(fleet: Fleet, memberId: string, text: string): Promise<void> {
  await retryOnConflict(async () => {
    const { value: member, version } = await current(fleet, 'members', memberId)
    const { terminal } = member
    if (!terminal || terminal.asked || member.dismissed_at) return
    const when = { actor: 'fleet', now: fleet.now() }
    const { value: team } = await current(fleet, 'teams', member.team_id)
    const to = (await membersOf(fleet, team)).filter(({ person }) => person !== null).map(({ handle }) => handle)
    const letter = {
      ...{ to, body: await fleet.blobs.keep(text), subject: `The terminal of ${member.handle}` },
      ...{ priority: 'high' as const, needs: 'none' as const, deadline: null, reply_to: null, wake: false },
    }
    const told: Batch = to.length
      ? (await mailing(fleet, team.id, 'fleet', { ...letter, id: newId() }, when)).batch
      : { changes: [] }
    const asked = put('members', { ...member, terminal: { ...terminal, asked: true } }, version)
    await fleet.commit('commit.terminal', { ...told, changes: [...told.changes, asked] })
  })
}
