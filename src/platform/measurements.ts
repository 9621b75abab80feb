/**
 * What this process counted and how long things took, since it started. Plain numbers: nothing is loaded for it, so it
 * costs a server that nobody scrapes next to nothing. `fleet/metrics` gives them to Prometheus.
 */
export interface Measurements {
  /** Whether this process serves: only then there is something to measure. */
  isServing: boolean
  /** Whether the daemon has picked up the running work. */
  isUp: boolean
  /** The names of the reactors, so that each is measured before it fails. */
  reactors: readonly string[]
  /** By operation and class of the status, such as 2xx. */
  readonly requests: Tally
  /** By operation. Streams are not in it: they take as long as somebody watches. */
  readonly requestSeconds: Durations
  /** By the code of the refusal. */
  readonly refusals: Tally
  readonly dispatchSeconds: Durations
  readonly landingSeconds: Durations
  /** By result: passed or failed. */
  readonly checkSeconds: Durations
  readonly commitSeconds: Durations
  /** Requests without a valid sign-in. */
  strangers: number
  /** Open now. */
  sockets: number
  streams: number
}

const QUICK = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5]
const REQUESTS = [0.005, 0.025, 0.1, 0.5, 2.5, 10]
const LONG = [1, 5, 15, 60, 300, 1800, 7200]

export const newMeasurements = (): Measurements => ({
  isServing: false,
  isUp: false,
  reactors: [],
  requests: new Tally(['operation', 'status']),
  requestSeconds: new Durations(REQUESTS, ['operation']),
  refusals: new Tally(['code']),
  dispatchSeconds: new Durations(LONG),
  landingSeconds: new Durations(LONG),
  checkSeconds: new Durations(LONG, ['result']),
  commitSeconds: new Durations(QUICK),
  strangers: 0,
  sockets: 0,
  streams: 0,
})

export interface Sample {
  /** What is appended to the name of the family: the parts of a histogram. */
  suffix?: '_bucket' | '_sum' | '_count'
  labels: Record<string, string>
  value: number
}

/** Labels come from fixed sets. A mistake must not make a series for each request, so beyond this they are `other`. */
const MOST_SERIES = 1500

class Series<T> {
  readonly #labels: readonly string[]
  readonly #make: () => T
  readonly #values = new Map<string, T>()

  constructor(labels: readonly string[], make: () => T) {
    this.#labels = labels
    this.#make = make
  }

  at(values: readonly string[]): T {
    const key = values.join('\0')
    const known = this.#values.get(key)
    if (known !== undefined) return known
    if (this.#values.size >= MOST_SERIES) return this.#new(this.#labels.map(() => 'other').join('\0'))
    return this.#new(key)
  }

  #new(key: string): T {
    const made = this.#values.get(key) ?? this.#make()
    this.#values.set(key, made)
    return made
  }

  *[Symbol.iterator](): Generator<[labels: Record<string, string>, value: T]> {
    for (const [key, value] of this.#values) {
      const parts = key.split('\0')
      yield [Object.fromEntries(this.#labels.map((label, i) => [label, parts[i]!])), value]
    }
  }
}

/** A counter for each combination of labels. */
export class Tally {
  readonly #series: Series<{ count: number }>

  constructor(labels: readonly string[] = []) {
    this.#series = new Series(labels, () => ({ count: 0 }))
  }

  add(...labels: string[]): void {
    this.#series.at(labels).count++
  }

  /** Makes the series exist before anything happens, so that its first increase is seen. */
  expect(...labels: string[]): void {
    this.#series.at(labels)
  }

  samples(): Sample[] {
    return Array.from(this.#series, ([labels, { count }]) => ({ labels, value: count }))
  }
}

/** A histogram for each combination of labels. */
export class Durations {
  readonly #bounds: readonly number[]
  readonly #series: Series<{ buckets: number[]; sum: number; count: number }>

  constructor(bounds: readonly number[], labels: readonly string[] = []) {
    this.#bounds = bounds
    this.#series = new Series(labels, () => ({ buckets: bounds.map(() => 0), sum: 0, count: 0 }))
    if (!labels.length) this.#series.at([])
  }

  expect(...labels: string[]): void {
    this.#series.at(labels)
  }

  add(seconds: number, ...labels: string[]): void {
    const series = this.#series.at(labels)
    // A clock may be set back.
    const taken = Math.max(0, seconds)
    series.count++
    series.sum += taken
    for (const [i, bound] of this.#bounds.entries()) if (taken <= bound) series.buckets[i]!++
  }

  samples(): Sample[] {
    return Array.from(this.#series).flatMap(([labels, { buckets, sum, count }]): Sample[] => [
      ...this.#bounds.map((bound, i) => ({
        suffix: '_bucket' as const,
        labels: { ...labels, le: String(bound) },
        value: buckets[i]!,
      })),
      { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: count },
      { suffix: '_sum', labels, value: sum },
      { suffix: '_count', labels, value: count },
    ])
  }
}

/** The seconds between two times as records have them. */
export const secondsBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / 1000
