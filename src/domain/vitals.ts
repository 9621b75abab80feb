/** Signs of life of a session at one moment. Each is a count that grows, or changes, while something happens. */
export interface Signs {
  at: number
  /** What it has printed and was told. */
  bytes: number
  /** Time its processes have spent on a processor, in hundredths of a second. */
  cpu: number
  /** Which processes there are: a new one, or one less, is a sign. */
  processes: string
  /** What its processes have written to files. */
  written: number
}

/** An idle client still ticks: less than this share of a processor is no work. */
const WORKING_SHARE = 0.05

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

  /** A machine that slept, or an agent that waits for a person: the time does not count. */
  forgive(at: number): void {
    this.#alive = at
  }
}

function showsLife(last: Signs, now: Signs): boolean {
  const seconds = Math.max(0.001, (now.at - last.at) / 1000)
  return (
    now.bytes !== last.bytes ||
    now.processes !== last.processes ||
    now.written !== last.written ||
    (now.cpu - last.cpu) / 100 / seconds > WORKING_SHARE
  )
}
