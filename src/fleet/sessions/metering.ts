import type { Digest } from '../../agents/index.ts'
import type { Session } from '../../domain/records/session.ts'

export const USAGE_EVERY_MS = 5000
/** Usage becomes an event this often. More would bury other events. */
const USAGE_TOLD_EVERY_MS = 15_000
/** The most working time that is not counted after a crash of the server. */
const WORKED_EVERY_SECONDS = 30

type Noted = Partial<Pick<Session, 'usage' | 'context' | 'conversation' | 'used_model' | 'worked_seconds'>>

/** Decides when a session's usage is stored: at once the first time, then every few seconds. A store is not a meter. */
export class Metering {
  #saved = -Infinity
  #told = -Infinity
  #workedSeconds: number

  constructor({ worked_seconds }: Session) {
    this.#workedSeconds = worked_seconds
  }

  get workedSeconds(): number {
    return this.#workedSeconds
  }

  /** Takes how long it has worked, and returns whether that is to be stored by itself. */
  worked(ms: number, { worked_seconds }: Session): boolean {
    this.#workedSeconds = Math.floor(ms / 1000)
    return this.#workedSeconds - worked_seconds >= WORKED_EVERY_SECONDS
  }

  /** What to store now, and whether to add an event. `isUrgent`: others share the money. */
  due(session: Session, digest: Digest, isUrgent: boolean): { noted: Noted; isTold: boolean } | null {
    const { usage, context, conversation, model } = digest
    if (!isUrgent && performance.now() - this.#saved < USAGE_EVERY_MS) return null
    if (JSON.stringify([usage, context]) === JSON.stringify([session.usage, session.context])) return null
    this.#saved = performance.now()
    const isTold = this.#saved - this.#told >= USAGE_TOLD_EVERY_MS
    if (isTold) this.#told = this.#saved
    return { noted: { usage, context, conversation, used_model: model, worked_seconds: this.#workedSeconds }, isTold }
  }
}
