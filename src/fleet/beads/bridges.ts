import { NewProject, type Project } from '../../domain/records/project.ts'
import { HOME_DATABASE } from '../../domain/rules/beads.ts'
import type { Fleet } from '../fleet.ts'
import { createProject } from '../projects/projects.ts'
import type { Reactor, Ref } from '../reactor.ts'
import { sentence } from '../sentences.ts'
import { bridgeTo, pass } from './bridge.ts'

const ASK = { operation: 'bridge_beads', actor: 'fleet' }

/** Connects the fleet with the beads databases that the settings name. */
export class Bridges implements Reactor {
  readonly name = 'beads'
  readonly #fleet: Fleet
  readonly #tell: (what: string, error: unknown) => void
  /** The last problem that was reported for each database, so that the same one is not reported every time. */
  readonly #told = new Map<string, string>()
  #due = 0

  constructor(fleet: Fleet, tell: (what: string, error: unknown) => void) {
    this.#fleet = fleet
    this.#tell = tell
  }

  /** It has no unfinished records: each pass finds what to do. */
  async *unfinished(): AsyncGenerator<Ref> {}

  affectedBy(): Ref[] {
    return []
  }

  async look(): Promise<void> {}

  /** Goes over all databases when it is time. */
  async tick(): Promise<void> {
    const { beadsBridges, beadsEvery } = this.#fleet.settings
    if (performance.now() < this.#due) return
    this.#due = Number.POSITIVE_INFINITY
    for (const folder of beadsBridges) await this.#goOver(folder)
    this.#due = performance.now() + beadsEvery * 1000
  }

  async #goOver(folder: string): Promise<void> {
    try {
      const bridge = await bridgeTo(this.#fleet, ASK, await this.#projectOf(folder))
      const { refused } = await pass(bridge, this.#fleet.settings.beadsAtOnce)
      const problems = refused.map(({ bead, reason }) => `${bead}: ${reason}`).join(' ')
      this.#notice(folder, problems, problems)
    } catch (error) {
      this.#notice(folder, sentence(error), error)
    }
  }

  #notice(folder: string, problem: string, error: unknown): void {
    if (problem && problem !== this.#told.get(folder)) this.#tell(`beads in ${folder}`, error)
    this.#told.set(folder, problem)
  }

  async #projectOf(folder: string): Promise<Project | null> {
    if (folder === HOME_DATABASE) return null
    const fields = { ...NewProject.parse({}), path: folder }
    return (await createProject(this.#fleet, ASK, fields, 'return')).value
  }
}
