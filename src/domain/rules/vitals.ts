/** Signs of life of a session at one moment. Each is a count that grows, or changes, while something happens. */
export interface Signs {
  at: number
  /** What of the conversation it has printed and was told. */
  said: number
  /** What it has printed beside it. */
  printed: number
  /** Time its processes have spent on a processor, in hundredths of a second. */
  cpu: number
  /** Which processes there are: a new one, or one less, is a sign. */
  processes: string
  /** What its processes have written to files. */
  written: number
  /** There is nothing it could be doing but hear its model: see `awaitsModel`. */
  awaitsModel: boolean
}

/** An idle client still ticks: less than this share of a processor is no work. */
const WORKING_SHARE = 0.05
/** One that waits for its model keeps house as well, such as logs and lists of models: only hard work is work then. */
const HARD_WORKING_SHARE = 0.25

/** How long none of the signs has shown, in milliseconds. Silence alone proves nothing: a test suite may print nothing for long. */
export class Vitals {
  #last: Signs | undefined
  #alive = 0

  observe(now: Signs): number {
    const last = this.#last
    this.#last = now
    if (!last || showsLife(last, now)) this.#alive = now.at
    return now.at - this.#alive
  }

  /** A machine that slept, an agent that waits for a person or for its next try: the time does not count. */
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

/** Whether its conversation has begun, its turn is not over and none of its tools is at work; only where it tells all that. */
export const awaitsModel = (
  life: 'conversation' | 'processes',
  { conversation, result, openTools }: { conversation: string | null; result: unknown; openTools: number },
): boolean => life === 'conversation' && conversation !== null && !result && openTools === 0
