import type { Mission, StatusReason } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
import * as life from '../../domain/rules/life.ts'
import { Refused, Verdict } from '../../plugins/contract.ts'
import type * as published from '../../plugins/plugin.ts'
import { Conflict, type Stored } from '../../store/index.ts'
import type { Fleet } from '../fleet.ts'
import { current, put } from '../records.ts'
import { sentence } from '../sentences.ts'
import { publishedMission } from './news.ts'

const MAX_CLEARED = 1000
const SECOND_TRY_MS = 1000

/** Has plugins asked about every session before it is begun, while everything else goes on. */
export class DispatchGate {
  readonly #fleet: Fleet
  readonly #wake: () => void
  readonly #inBackground: (what: string, work: Promise<unknown>) => void
  /** The version of each mission that nobody had anything against. */
  readonly #cleared = new Map<string, number>()
  readonly #asking = new Set<string>()

  constructor(fleet: Fleet, inBackground: (what: string, work: Promise<unknown>) => void, wake: () => void) {
    this.#fleet = fleet
    this.#inBackground = inBackground
    this.#wake = wake
  }

  /** Whether it may start as it is now. If that is not known yet it is asked, and there is a wake when it is. */
  lets(stored: Stored<Mission>): boolean {
    const { value: mission, version } = stored
    const asked = hooksOf(mission).flatMap(
      hook => this.#fleet.plugins.host?.listening(hook).map(plugin => ({ hook, plugin })) ?? [],
    )
    if (asked.length === 0 || this.#cleared.get(mission.id) === version) return true
    if (this.#asking.has(mission.id)) return false
    this.#asking.add(mission.id)
    const asking = this.#ask(stored, asked).finally(() => this.#asking.delete(mission.id))
    asking.then(this.#wake, () => setTimeout(this.#wake, SECOND_TRY_MS).unref())
    this.#inBackground(`asking plugins about mission ${mission.id}`, asking)
    return false
  }

  forget(missionId: string): void {
    this.#cleared.delete(missionId)
  }

  async #ask(stored: Stored<Mission>, asked: { hook: 'pre_plan' | 'pre_dispatch'; plugin: string }[]): Promise<void> {
    const host = this.#fleet.plugins.host
    let { value: mission, version } = stored
    const project = (await current(this.#fleet, 'projects', mission.project_id)).value
    for (const { hook, plugin } of asked) {
      const input: published.BeforeDispatch = {
        mission: { ...publishedMission(mission), detailed_prompt: await this.#fleet.blobs.read(mission.prompt) },
        project: publishedProject(project),
        reason: mission.next?.reason ?? 'first',
      }
      const verdict = await host?.hear(plugin, hook, input, Verdict)
      if (verdict?.refuse) return this.#refuse({ value: mission, version }, plugin, verdict)
      if (!verdict?.change) continue
      try {
        await host!.askAs(plugin, 'update_mission', { ...verdict.change, mission_id: mission.id })
      } catch (error) {
        host!.blame(plugin, `${hook} wants a change that is not possible: ${sentence(error)}`)
        continue
      }
      const changed = await current(this.#fleet, 'missions', mission.id)
      // Somebody else changed it as well: it is asked about from the beginning.
      if (changed.version !== version + 1) return
      mission = changed.value
      version = changed.version
    }
    // What is missing here is asked again, so a long list may be forgotten.
    if (this.#cleared.size >= MAX_CLEARED) this.#cleared.clear()
    this.#cleared.set(mission.id, version)
  }

  async #refuse({ value, version }: Stored<Mission>, plugin: string, verdict: NonNullable<Verdict>): Promise<void> {
    const fails = value.planning !== null || verdict.status === 'failed'
    const why = reasonOf(
      plugin,
      verdict.refuse!,
      `fleet mission ${fails || !value.session_id ? 'retry' : 'resume'} ${value.id}`,
    )
    const when = { actor: `plugin:${plugin}`, now: this.#fleet.now() }
    const { mission, events } = fails ? life.failed(value, why, when) : life.toPerson(value, why, when)
    try {
      await this.#fleet.commit('commit.dispatch-failed', { changes: [put('missions', mission, version)], events })
    } catch (error) {
      // It was changed meanwhile: the plugin is asked about what it is now.
      if (!(error instanceof Conflict)) throw error
    }
  }
}

const hooksOf = ({ planning }: Mission): ('pre_plan' | 'pre_dispatch')[] =>
  planning ? ['pre_plan', 'pre_dispatch'] : ['pre_dispatch']

/** Why a plugin does not want this work on the base branch; nothing: none objects. */
export async function objectionToLanding(
  fleet: Fleet,
  { mission, project, session }: { mission: Mission; project: Project; session: Session },
): Promise<StatusReason | undefined> {
  const { host } = fleet.plugins
  const input: published.BeforeLanding = {
    mission: publishedMission(mission),
    project: publishedProject(project),
    branch: session.branch,
    commit: session.end_commit,
  }
  for (const plugin of host?.listening('pre_land') ?? []) {
    const refused = await host!.hear(plugin, 'pre_land', input, Refused)
    if (refused?.refuse) return reasonOf(plugin, refused.refuse, `fleet mission land ${mission.id}`)
  }
  return undefined
}

const reasonOf = (plugin: string, text: string, next: string): StatusReason => ({
  code: 'plugin_refused',
  text: `The plugin ${plugin} refuses: ${text}`,
  try: next,
})

const publishedProject = ({ id, name, path, base_branch }: Project): published.Project => ({
  id,
  name,
  path,
  base_branch,
})
