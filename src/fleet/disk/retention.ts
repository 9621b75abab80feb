import type { Event } from '../../domain/records/event.ts'
import type { Mission } from '../../domain/records/mission.ts'
import { worktreeExpiry } from '../../domain/rules/disk.ts'
import type { Fleet } from '../fleet.ts'
import { type Desk, idIn, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all } from '../records.ts'
import { retireInTurn } from '../worktrees/cleaning.ts'
import { daysKeptOf } from './limits.ts'

const LONGEST_WAIT_MS = 3_600_000
const AGAIN_MS = 600_000

/** Removes worktrees of failed and cancelled missions after the days for which their project keeps them. */
export class Retention implements Reactor {
  readonly name = 'retention'
  readonly isPatient = true
  readonly #fleet: Fleet
  readonly #desk: Desk

  constructor(fleet: Fleet, desk: Desk) {
    this.#fleet = fleet
    this.#desk = desk
  }

  async *unfinished(): AsyncGenerator<Ref> {
    for await (const { value } of all(this.#fleet, 'sessions', 'worktree')) yield refTo('missions', value.mission_id)
  }

  async affectedBy({ kind, mission_id, data }: Event): Promise<Ref[]> {
    if (kind === 'settings_changed' || kind === 'project_updated') return Array.fromAsync(this.unfinished())
    return mission_id && (data.status === 'failed' || data.status === 'cancelled')
      ? [refTo('missions', mission_id)]
      : []
  }

  async look(ref: Ref): Promise<void> {
    const mission = (await this.#fleet.store.get('missions', idIn(ref)))?.value
    const project = mission && (await this.#fleet.store.get('projects', mission.project_id))?.value
    if (!mission || !project || mission.deleting) return
    const expiry = worktreeExpiry(mission, daysKeptOf(this.#fleet, project))
    if (!expiry) return
    const wait = Date.parse(expiry) - Date.parse(this.#fleet.now())
    if (wait > 0) return this.#desk.lookIn(Math.min(wait, LONGEST_WAIT_MS), ref)
    this.#desk.goOn(ref, this.#remove(mission, ref))
  }

  async #remove(mission: Mission, ref: Ref): Promise<void> {
    for await (const { value: session } of all(this.#fleet, 'sessions', 'mission', [mission.id])) {
      const isKept = session.status === 'ended' && session.worktree_kept && session.worktree
      // What stays for a reason is said by fleet clean. The reason may be gone later.
      if (isKept && (await retireInTurn(this.#fleet, session))) this.#desk.lookIn(AGAIN_MS, ref)
    }
  }
}
