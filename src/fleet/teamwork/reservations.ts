import { setImmediate as nextTurn } from 'node:timers/promises'
import { NotAllowed, NotFound } from '../../domain/errors.ts'
import { Reservation } from '../../domain/records/reservation.ts'
import type { Session } from '../../domain/records/session.ts'
import type { Member, Team } from '../../domain/records/team.ts'
import { saying } from '../../domain/rules/mail-prompt.ts'
import * as rules from '../../domain/rules/reservations.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { all, current, derivedId, put } from '../records.ts'
import { sendMail } from '../teams/mail.ts'
import { takesMessages } from '../teams/sessions.ts'
import { aboutTeam, requireTeam } from '../teams/teams.ts'
import { authorOf } from './board.ts'

export const reservationsOf = async (fleet: Fleet, { id }: Pick<Team, 'id'>): Promise<Reservation[]> =>
  (await Array.fromAsync(all(fleet, 'reservations', 'team', [id]))).map(({ value }) => value)

export const reservedBy = async (fleet: Fleet, memberId: string): Promise<Reservation[]> =>
  (await Array.fromAsync(all(fleet, 'reservations', 'holder', [memberId]))).map(({ value }) => value)

/** A pattern that was made to be slow takes a millisecond to compare, so others are served in between. */
const MOST_COMPARED = 50

/** What others reserved that fits the same files. */
export async function overlapsOf(
  reservation: Pick<Reservation, 'file' | 'holder'>,
  among: readonly Reservation[],
): Promise<Reservation[]> {
  const found: Reservation[] = []
  for (let from = 0; from < among.length; from += MOST_COMPARED) {
    found.push(...rules.overlapping(reservation, among.slice(from, from + MOST_COMPARED)))
    await nextTurn()
  }
  return found
}

export interface NewReservation {
  file: string
  reason: string
  /** The session that reserves. Absent: a person does, until they release it. */
  session?: Session
}

/** Says that a member is about to change files. The same file again is the same reservation, with a new time. */
export async function reserve(
  fleet: Fleet,
  ask: Ask,
  team: Team,
  holder: Member,
  { file, reason, session }: NewReservation,
): Promise<{ reservation: Reservation; overlaps: Reservation[] }> {
  const isTask = session !== undefined && session.mission_id !== holder.mission_id
  const id = derivedId('reservation', holder.id, file)
  const asReservation = (now: string) =>
    Reservation.parse({
      ...{ id, team_id: team.id, project_id: team.project_id, holder: authorOf(holder), file, reason },
      ...{ session_id: isTask ? null : (session?.id ?? null), mission_id: isTask ? session.mission_id : null },
      created_at: now,
    })
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'teams', team.id)
    requireTeam(value)
    const before = await fleet.store.get('reservations', id)
    if (!before && (await reservedBy(fleet, holder.id)).length >= rules.MOST_RESERVATIONS)
      throw new NotAllowed(`${holder.handle} has ${rules.MOST_RESERVATIONS} reservations already.`, {
        try: 'Reserve a folder or a pattern instead, or release some.',
      })
    const when = by(fleet, ask)
    return {
      subject: id,
      changes: [put('reservations', asReservation(when.now), before?.version ?? 'absent')],
      checks: [{ collection: 'teams', id: team.id, expects: version }],
      events: [aboutTeam(team, 'reservation_made', when, { member: holder.id, handle: holder.handle, file })],
    }
  })
  const reservation = (await fleet.store.get('reservations', id))?.value ?? asReservation(fleet.now())
  // Read after the commit: of two who reserve at once, at least the second sees the first, and tells them.
  const overlaps = await overlapsOf(reservation, await reservationsOf(fleet, team))
  await tellHolders(fleet, team, reservation, overlaps)
  return { reservation, overlaps }
}

/**
 * Tells those who are at work. The others read it at the start of their next session. Whoever has not read the last
 * note of this kind is not told again: it says where all overlaps are.
 */
async function tellHolders(
  fleet: Fleet,
  team: Team,
  { id, holder, file, reason, created_at }: Reservation,
  overlaps: readonly Reservation[],
): Promise<void> {
  for (const member_id of new Set(overlaps.map(each => each.holder.member_id))) {
    const { value: member } = await current(fleet, 'members', member_id)
    const live = member.session_id ? (await fleet.store.get('sessions', member.session_id))?.value : undefined
    if (!live || !takesMessages(fleet, live) || (await hasNote(fleet, member_id))) continue
    const theirs = overlaps.filter(each => each.holder.member_id === member_id).map(each => each.file)
    const why = reason ? ` and says ${saying(reason)}` : ''
    const body = `${holder.handle} is about to change ${file}${why}. You reserved ${theirs.join(', ')}. Nobody is kept from writing: agree with ${holder.handle}. team_reservations shows all overlaps.`
    const letter = { subject: NOTE, priority: 'normal', needs: 'none', deadline: null, reply_to: null } as const
    const key = `overlap ${id} ${created_at} ${member_id}`
    const wanted = { ...letter, to: [member.handle], body, wake: false, key }
    // Whoever was dismissed in the meantime needs no note.
    await sendMail(fleet, team.id, 'fleet', wanted, 'fleet').catch(ifGone)
  }
}

const NOTE = 'Reserved files overlap'

async function hasNote(fleet: Fleet, memberId: string): Promise<boolean> {
  const { items } = await fleet.store.find('deliveries', { index: 'queued', equals: [memberId], limit: 50 })
  const notes = items.filter(({ value }) => value.from === 'fleet')
  const mails = await Promise.all(notes.map(({ value }) => fleet.store.get('mail', value.mail_id)))
  return mails.some(mail => mail?.value.subject === NOTE)
}

function ifGone(error: unknown): void {
  if (!(error instanceof NotAllowed) && !(error instanceof NotFound)) throw error
}

/** The reservations are over. Each is released once, however many ask. */
export async function release(fleet: Fleet, team: Team, ids: readonly string[], actor: string): Promise<string[]> {
  const released: string[] = []
  for (const id of ids)
    await retryOnConflict(async () => {
      const found = await fleet.store.get('reservations', id)
      if (!found) return
      const { holder, file } = found.value
      const when = { actor, now: fleet.now() }
      await fleet.commit('commit.wish', {
        changes: [{ remove: 'reservations', id, expects: found.version }],
        events: [
          aboutTeam(team, 'reservation_ended', when, {
            member: holder.member_id,
            handle: holder.handle,
            files: [file],
          }),
        ],
      })
      released.push(file)
    })
  return released
}

/** What others are about to change, for the prompt of a session that is about to start. */
export async function reservedByOthers(fleet: Fleet, { member_id }: Pick<Session, 'member_id'>): Promise<string> {
  const { value: member } = await current(fleet, 'members', member_id!)
  const reservations = await reservationsOf(fleet, { id: member.team_id })
  const isOwn = ({ holder }: Reservation) => holder.member_id === member.id
  return rules.reservedInWords(
    reservations.filter(each => !isOwn(each)),
    reservations.filter(isOwn),
  )
}
