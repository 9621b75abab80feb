import type { Event } from '../../domain/records/event.ts'
import type { Fleet } from '../fleet.ts'
import { sideProcessesIn } from '../previews/processes.ts'
import { type Desk, idIn, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all } from '../records.ts'
import { retire, sharedWithLater, worktreeTurns } from './retiring.ts'

/** Results after which a worktree has nothing that is not on the base branch or under a ref. */
const SPENT = ['landed', 'no_changes']
/** Events after which a worktree may belong to nobody. */
const MOVED: readonly Event['kind'][] = ['landed', 'session_starting', 'process_ended']

/** Removes worktrees that are no longer needed, and those that a new branch has replaced. */
export class Worktrees implements Reactor {
  readonly name = 'worktrees'
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

  affectedBy({ kind, mission_id, data }: Event): Ref[] {
    return mission_id && (data.status === 'done' || MOVED.includes(kind)) ? [refTo('missions', mission_id)] : []
  }

  async look(ref: Ref): Promise<void> {
    this.#desk.goOn(
      ref,
      worktreeTurns.take(idIn(ref), () => this.#tidy(idIn(ref))),
    )
  }

  async #tidy(missionId: string): Promise<void> {
    const mission = (await this.#fleet.store.get('missions', missionId))?.value
    const project = mission && (await this.#fleet.store.get('projects', mission.project_id))?.value
    if (!mission || !project || mission.deleting) return
    const spent = mission.status === 'done' && SPENT.includes(mission.result ?? '')
    for await (const { value: session } of all(this.#fleet, 'sessions', 'mission', [missionId])) {
      const isKept = session.status === 'ended' && session.worktree_kept && session.worktree
      if (!isKept || !session.end_commit || session.left_behind) continue
      if (await sharedWithLater(this.#fleet, session)) continue
      // A preview runs there. When it ends, this is looked at again.
      if ((await sideProcessesIn(this.#fleet, session)).length) continue
      if (spent || session.id !== mission.session_id) await retire(this.#fleet, session, project)
    }
  }
}
