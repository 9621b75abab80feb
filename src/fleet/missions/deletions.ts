import type { Fleet } from '../fleet.ts'
import { forgetProject } from '../projects/projects.ts'
import { idIn, isOf, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all } from '../records.ts'
import { forgetMission } from '../worktrees/retiring.ts'

/** Finishes deletions that a crash cut short. */
export class Deletions implements Reactor {
  readonly name = 'deletions'
  readonly #fleet: Fleet

  constructor(fleet: Fleet) {
    this.#fleet = fleet
  }

  async *unfinished(): AsyncGenerator<Ref> {
    for await (const { value } of all(this.#fleet, 'missions', 'deleting')) yield refTo('missions', value.id)
    for await (const { value } of all(this.#fleet, 'projects', 'deleting')) yield refTo('projects', value.id)
  }

  /** A deletion happens at once, so no event concerns this. */
  affectedBy(): Ref[] {
    return []
  }

  async look(ref: Ref): Promise<void> {
    const by = { actor: 'fleet', now: this.#fleet.now() }
    if (isOf(ref, 'missions')) {
      const mission = await this.#fleet.store.get('missions', idIn(ref))
      if (mission?.value.deleting) await forgetMission(this.#fleet, mission.value.id, by)
    } else {
      const project = await this.#fleet.store.get('projects', idIn(ref))
      if (project?.value.deleting) await forgetProject(this.#fleet, project.value, by)
    }
  }
}
