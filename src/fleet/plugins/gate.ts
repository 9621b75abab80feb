import type { Mission, StatusReason } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
import * as life from '../../domain/rules/life.ts'
import { Refused, Verdict } from '../../plugins/contract.ts'
import type * as published from '../../plugins/plugin.ts'
import { Conflict, type Stored, type Version } from '../../store/index.ts'
import type { Fleet } from '../fleet.ts'
import { type Desk, refTo } from '../reactor.ts'
import { current, put } from '../records.ts'
import { sentence } from '../sentences.ts'
import { publishedMission } from './news.ts'

const MAX_CLEARED = 1000
const SECOND_TRY_MS = 1000

/** Asks plugins about every session before it begins, while everything else goes on. */
export class DispatchGate {
  readonly #fleet: Fleet
  readonly #desk: Desk
  /** The version of each mission that no plugin objected to. */
  readonly #cleared = new Map<string, Version>()
  readonly #asking = new Set<string>()

  constructor(fleet: Fleet, desk: Desk) {
    this.#fleet = fleet
    this.#desk = desk
  }

  /** Whether it may start as it is now. If that is unknown, plugins are asked, and another pass follows. */
  lets(stored: Stored<Mission>): boolean {
    const { value: mission, version } = stored
    const asked = hooksOf(mission).flatMap(
      hook => this.#fleet.plugins.host?.listening(hook).map(plugin => ({ hook, plugin })) ?? [],
    )
    if (asked.length === 0 || this.#cleared.get(mission.id) === version) return true
    if (this.#asking.has(mission.id)) return false
    this.#asking.add(mission.id)
    const asking = this.#ask(stored, asked).finally(() => this.#asking.delete(mission.id))
    asking.then(
      () => this.#desk.passIn(0),
      () => this.#desk.passIn(SECOND_TRY_MS),
    )
    this.#desk.goOn(refTo('missions', mission.id), asking)
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
      const before = await this.#fleet.store.tail()
      // Somebody else has changed it, so plugins are asked again from the beginning.
      if ((await current(this.#fleet, 'missions', mission.id)).version !== version) return
      try {
        await host!.askAs(plugin, 'update_mission', { ...verdict.change, mission_id: mission.id })
      } catch (error) {
        host!.blame(plugin, `${hook} wants a change that is not possible: ${sentence(error)}`)
        continue
      }
      const changed = await current(this.#fleet, 'missions', mission.id)
      const { events } = await this.#fleet.store.events({ after: before, mission_id: mission.id, limit: 100 })
      if (events.some(({ actor }) => actor !== `plugin:${plugin}`)) return
      mission = changed.value
      version = changed.version
    }
    // A mission that is missing here is asked about again, so a long list may be dropped.
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
      // It has changed, so the plugin is asked about the new version.
      if (!(error instanceof Conflict)) throw error
    }
  }
}

const hooksOf = ({ planning }: Mission): ('pre_plan' | 'pre_dispatch')[] =>
  planning ? ['pre_plan', 'pre_dispatch'] : ['pre_dispatch']

/** Why a plugin objects to this landing. Undefined: none objects. */
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
    if (refused?.refuse) return reasonOf(plugin, refused.refuse, `fleet land ${mission.id}`)
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
