import type { Event } from '../../domain/records/event.ts'
import type { Turns } from '../../git/turns.ts'
import type { Fleet } from '../fleet.ts'
import { type Desk, idIn, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all } from '../records.ts'
import { worktreeTurns } from '../worktrees/retiring.ts'
import { landMission } from './landing.ts'
import { undoMission } from './undo.ts'

const ASKED: readonly Event['kind'][] = ['undo_requested', 'cancel_requested']

/** Lands and undoes, one mission at a time per project. A mission that waits for a person ends its turn. */
export class Landings implements Reactor {
  readonly name = 'landing'
  readonly #fleet: Fleet
  readonly #desk: Desk
  /** By project. */
  readonly #turns: Turns
  readonly #queued = new Set<string>()
  readonly #now = new Map<string, AbortController>()

  constructor(fleet: Fleet, desk: Desk, turns: Turns) {
    this.#fleet = fleet
    this.#desk = desk
    this.#turns = turns
  }

  async *unfinished(): AsyncGenerator<Ref> {
    for await (const { value } of all(this.#fleet, 'missions', 'landing')) yield refTo('missions', value.id)
  }

  affectedBy({ kind, mission_id, data }: Event): Ref[] {
    return mission_id && (data.status === 'landing' || ASKED.includes(kind)) ? [refTo('missions', mission_id)] : []
  }

  async look(ref: Ref): Promise<void> {
    const mission = (await this.#fleet.store.get('missions', idIn(ref)))?.value
    if (!mission || (mission.status !== 'landing' && !mission.undo)) return
    if (mission.cancel_requested) this.#now.get(mission.id)?.abort()
    this.#queue(ref, mission.project_id)
  }

  #queue(ref: Ref, projectId: string): void {
    const missionId = idIn(ref)
    // The mission is read again in each turn, so one turn in the queue is enough.
    if (this.#queued.has(missionId)) return
    this.#queued.add(missionId)
    const turn = this.#turns.take(projectId, () =>
      worktreeTurns.take(missionId, async () => {
        this.#queued.delete(missionId)
        if (!this.#desk.signal.aborted) await this.#land(ref)
      }),
    )
    this.#desk.goOn(ref, turn)
  }

  async #land(ref: Ref): Promise<void> {
    const missionId = idIn(ref)
    const asked = new AbortController()
    this.#now.set(missionId, asked)
    try {
      // Only a person ends a landing. When the server stops, checks go on and the next server follows them.
      const mission = (await this.#fleet.store.get('missions', missionId))?.value
      if (mission?.undo) await undoMission(this.#fleet, missionId, asked.signal)
      else if (mission?.status === 'landing') {
        const after = await landMission(this.#fleet, missionId, asked.signal)
        // After a restart every landing is looked at anyway.
        if (after !== undefined) this.#desk.lookIn(after, ref)
      }
    } finally {
      this.#now.delete(missionId)
    }
  }
}
