import type { Event } from '../../domain/records/event.ts'
import type { Reservation } from '../../domain/records/reservation.ts'
import type { Team } from '../../domain/records/team.ts'
import type { By } from '../../domain/rules/life.ts'
import { endOf } from '../../domain/rules/reservations.ts'
import type { Batch, Stored } from '../../store/index.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { idIn, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all, current, derivedId } from '../records.ts'
import { mailing } from '../teams/mail.ts'
import { aboutTeam } from '../teams/teams.ts'

/** Ends reservations with their session, their task, their holder or their team, and tells the holder. */
export class Reservations implements Reactor {
  readonly name = 'reservations'
  readonly #fleet: Fleet

  constructor(fleet: Fleet) {
    this.#fleet = fleet
  }

  async *unfinished(): AsyncGenerator<Ref> {
    const seen = new Set<string>()
    for await (const { value } of all(this.#fleet, 'reservations', 'holder')) {
      const { member_id } = value.holder
      if (!seen.has(member_id)) yield refTo('members', member_id)
      seen.add(member_id)
    }
  }

  async affectedBy({ kind, session_id, mission_id, data }: Event): Promise<Ref[]> {
    if (kind === 'member_dismissed') return [refTo('members', data.member as string)]
    if (kind === 'team_deleted') return this.#holders('team', data.team as string)
    if (kind === 'session_ended') return this.#holders('session', session_id!)
    return mission_id && ('status' in data || kind === 'mission_deleted') ? this.#holders('mission', mission_id) : []
  }

  async #holders(index: 'team' | 'session' | 'mission', id: string): Promise<Ref[]> {
    const found = await Array.fromAsync(all(this.#fleet, 'reservations', index, [id]))
    return [...new Set(found.map(({ value }) => refTo('members', value.holder.member_id)))]
  }

  async look(ref: Ref): Promise<void> {
    await retryOnConflict(async () => {
      const mine = await Array.fromAsync(all(this.#fleet, 'reservations', 'holder', [idIn(ref)]))
      if (!mine.length) return
      const { value: team } = await current(this.#fleet, 'teams', mine[0]!.value.team_id)
      const ends = (await Promise.all(mine.map(each => this.#ended(team, each)))).filter(each => each !== undefined)
      if (!ends.length) return
      const by = { actor: 'fleet', now: this.#fleet.now() }
      const { holder } = ends[0]!.value
      const files = ends.map(({ value }) => value.file)
      const told = await this.#note(team, ends, by)
      await this.#fleet.commit('commit.reservations-ended', {
        ...told,
        changes: [
          ...told.changes,
          ...ends.map(({ value, version }) => ({ remove: 'reservations' as const, id: value.id, expects: version })),
        ],
        events: [
          ...(told.events ?? []),
          aboutTeam(team, 'reservation_ended', by, { member: holder.member_id, handle: holder.handle, files }),
        ],
      })
    })
  }

  async #ended(team: Team, stored: Stored<Reservation>): Promise<(Stored<Reservation> & { why: string }) | undefined> {
    const { session_id, mission_id } = stored.value
    const session = session_id ? (await this.#fleet.store.get('sessions', session_id))?.value : undefined
    const mission = mission_id ? (await this.#fleet.store.get('missions', mission_id))?.value : undefined
    const why = endOf(stored.value, { team, session, mission })
    return why === null ? undefined : { ...stored, why }
  }

  /** A note for the holder, if there is still one. It wakes nobody. */
  async #note(team: Team, ends: readonly (Stored<Reservation> & { why: string })[], by: By): Promise<Batch> {
    const { holder } = ends[0]!.value
    const isThere = team.ended_at === null && team.roster.some(({ member_id }) => member_id === holder.member_id)
    if (!isThere) return { changes: [] }
    const lines = ends.map(({ value, why }) => `${value.file}: ${why}`)
    const body = await this.#fleet.blobs.keep(
      `These files are no longer reserved for you:\n${lines.join('\n')}\nReserve again what you still need.`,
    )
    const letter = { needs: 'none', priority: 'low', deadline: null, reply_to: null, wake: false } as const
    const id = derivedId('mail', 'reservations', ...ends.map(({ value }) => `${value.id} ${value.created_at}`))
    const wanted = { ...letter, to: [holder.handle], subject: 'Reservations ended', body, id }
    return (await mailing(this.#fleet, team.id, 'fleet', wanted, by)).batch
  }
}
