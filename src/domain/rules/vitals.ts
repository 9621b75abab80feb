/** Signs of life of a session at one moment. Each is a count that grows, or changes, while something happens. */
export interface Signs {
  at: number
  /** Bytes of the conversation, in both directions. */
  said: number
  /** Bytes of its other output. */
  printed: number
  /** Processor time of its processes, in hundredths of a second. */
  cpu: number
  /** Its processes. A new one, or one less, is a sign of life. */
  processes: string
  /** Bytes its processes have written to files. */
  written: number
  /** It can only be waiting for its model: see `awaitsModel`. */
  awaitsModel: boolean
}

/** An idle client still uses some processor time. A smaller share than this does not count as work. */
const WORKING_SHARE = 0.05
/** A client that waits for its model still writes logs and lists. Only a larger share than this counts as work then. */
const HARD_WORKING_SHARE = 0.25

/**
 * How long no sign has changed, in milliseconds. Silence alone proves nothing: a test suite may print nothing for long.
 */
export class Vitals {
  #last: Signs | undefined
  #alive = 0

  observe(now: Signs): number {
    const last = this.#last
    this.#last = now
    if (!last || showsLife(last, now)) this.#alive = now.at
    return now.at - this.#alive
  }

  /** The time does not count while a machine sleeps, or an agent waits for a person or for its next try. */
  forgive(at: number): void {
    this.#alive = at
  }
}

function showsLife(last: Signs, now: Signs): boolean {
  const seconds = Math.max(0.001, (now.at - last.at) / 1000)
  const share = (now.cpu - last.cpu) / 100 / seconds
  if (now.said !== last.said) return true
  if (now.awaitsModel && last.awaitsModel) return share > HARD_WORKING_SHARE
  return (
    now.printed !== last.printed ||
    now.processes !== last.processes ||
    now.written !== last.written ||
    share > WORKING_SHARE
  )
}

/**
 * Whether its conversation has begun, its turn goes on and no tool is at work. False if the client does not report all
 * of these.
 */
export const awaitsModel = (
  life: 'conversation' | 'processes',
  { conversation, result, openTools }: { conversation: string | null; result: unknown; openTools: number },
): boolean => life === 'conversation' && conversation !== null && !result && openTools === 0
