import { NewProject, type Project } from '../../domain/records/project.ts'
import { HOME_DATABASE } from '../../domain/rules/beads.ts'
import type { Fleet } from '../fleet.ts'
import { createProject } from '../projects/projects.ts'
import { sentence } from '../sentences.ts'
import { bridgeTo, pass } from './bridge.ts'

const ASK = { operation: 'bridge_beads', actor: 'fleet' }

/** Goes between the fleet and the beads databases that the settings name. Only the holder of the home has one. */
export class Bridges {
  readonly #fleet: Fleet
  readonly #tell: (what: string, error: unknown) => void
  /** What was told of each last, so that a database that is missing is not told of every time. */
  readonly #told = new Map<string, string>()
  #due = 0

  constructor(fleet: Fleet, tell: (what: string, error: unknown) => void) {
    this.#fleet = fleet
    this.#tell = tell
  }

  /** Goes over all of them if it is time; nothing of what it does has to be remembered. */
  async look(): Promise<void> {
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
