import type { Event } from '../../domain/records/event.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { After } from '../../plugins/contract.ts'
import type * as published from '../../plugins/plugin.ts'
import type { Fleet } from '../fleet.ts'

const PAGE = 100
const SAVE_EVERY_MS = 1000
/** After a failure it goes on by itself: there may be no other event that would wake it. */
const AGAIN_AFTER_MS = 5000

export interface Listener {
  /** Its name as the actor of events. */
  actor: string
  /** It was told everything up to here. */
  cursor: string
  listens(hook: After): boolean
  tell(hook: After, told: published.Told): Promise<void>
  save(cursor: string): Promise<void>
  onFault(error: unknown): void
}

/**
 * Tells one plugin what happened, in order and after the commit. Its cursor is saved after that, so after a crash it
 * hears the last events again.
 */
export class News {
  readonly #fleet: Fleet
  readonly #to: Listener
  readonly #unwatch: () => void
  #cursor: string
  #saved: string
  #turn: Promise<void> | undefined
  #again = false
  #over = false
  #savedAt = 0
  #later: NodeJS.Timeout | undefined

  constructor(fleet: Fleet, to: Listener) {
    this.#fleet = fleet
    this.#to = to
    this.#cursor = this.#saved = to.cursor
    this.#unwatch = fleet.store.watch(() => this.#wake())
    this.#wake()
  }

  /** Stops. An event that is being told now counts as not told. */
  halt(): void {
    this.#over = true
    this.#unwatch()
    clearTimeout(this.#later)
  }

  /** Resolves when the event that was being told is done. */
  async stopped(): Promise<void> {
    await this.#turn
    await this.#save()
  }

  #wake(): void {
    if (this.#over) return
    if (this.#turn) {
      this.#again = true
      return
    }
    this.#turn = this.#read()
      .catch(error => this.#failed(error))
      .finally(() => {
        this.#turn = undefined
        if (!this.#again) return
        this.#again = false
        this.#wake()
      })
  }

  #failed(error: unknown): void {
    this.#to.onFault(error)
    if (this.#over) return
    clearTimeout(this.#later)
    this.#later = setTimeout(() => this.#wake(), AGAIN_AFTER_MS).unref()
  }

  async #read(): Promise<void> {
    for (;;) {
      const page = await this.#fleet.store.events({ after: this.#cursor, limit: PAGE })
      if (page.reset) this.#to.onFault(new Error('Events were dropped before it received them.'))
      for (const event of page.events) {
        await this.#tell(event)
        if (this.#over) return
        this.#cursor = event.cursor
        if (performance.now() - this.#savedAt > SAVE_EVERY_MS) await this.#save()
      }
      this.#cursor = page.cursor
      if (page.events.length < PAGE) break
    }
    if (performance.now() - this.#savedAt > SAVE_EVERY_MS) return this.#save()
    clearTimeout(this.#later)
    if (this.#cursor !== this.#saved) this.#later = setTimeout(() => this.#wake(), SAVE_EVERY_MS).unref()
  }

  async #save(): Promise<void> {
    if (this.#cursor === this.#saved) return
    const cursor = this.#cursor
    await this.#to.save(cursor)
    this.#saved = cursor
    this.#savedAt = performance.now()
  }

  async #tell(event: Event): Promise<void> {
    // A plugin is not told what it did itself: one that reacts to every event would never stop.
    if (event.actor === this.#to.actor) return
    const hooks = hooksFor(event).filter(hook => this.#to.listens(hook))
    if (hooks.length === 0) return
    const mission = event.mission_id ? await this.#fleet.store.get('missions', event.mission_id) : undefined
    const told: published.Told = { event, mission: mission ? publishedMission(mission.value) : null }
    for (const hook of hooks) {
      const question = hook === 'on_question' ? await questionIn(this.#fleet, event) : undefined
      if (hook === 'on_question' && !question) continue
      await this.#to.tell(hook, question ? ({ ...told, question } as published.Told) : told)
    }
  }
}

/** Plugins are not told about plugins: one that fails at such an event would cause the next one. */
function hooksFor({ kind, data }: Event): After[] {
  if (kind.startsWith('plugin_')) return []
  return [
    ...(data.status === 'done' ? (['post_complete'] as const) : []),
    ...(data.status === 'failed' ? (['post_fail'] as const) : []),
    ...(kind === 'plan_proposed' || kind === 'plan_failed' ? (['post_plan'] as const) : []),
    ...(kind === 'asked' ? (['on_question'] as const) : []),
    'on_event',
  ]
}

/** Undefined once it was answered. */
async function questionIn(fleet: Fleet, { data }: Event): Promise<published.Question | undefined> {
  const question = typeof data.question === 'string' ? await fleet.store.get('questions', data.question) : undefined
  if (question?.value.status !== 'open') return undefined
  const { id, mission_id, session_id, kind, tool, text } = question.value
  return { id, mission_id, session_id, kind, tool, text: await fleet.blobs.read(text) }
}

export const publishedMission = (mission: Mission): published.Mission => ({
  id: mission.id,
  project_id: mission.project_id,
  title: mission.title,
  mission_type: mission.mission_type,
  status: mission.status,
  status_reason: mission.status_reason,
  result: mission.result,
  agent: mission.agent,
  model: mission.model,
  tags: mission.tags,
  metadata: mission.metadata,
  parent_mission_id: mission.parent_mission_id,
  plan_id: mission.plan_id,
  session_id: mission.session_id,
  branch: mission.branch,
  created_at: mission.created_at,
  updated_at: mission.updated_at,
})
