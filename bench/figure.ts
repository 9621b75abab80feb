/** One row of the table: what was measured, what the machine itself needs, and what is demanded. */
export interface Row {
  figure: string
  measured: string
  floor: string
  demanded: string
  met: boolean
}

export interface Scale {
  /** A short run during development: fewer repeats, the same figures. Do not quote its numbers. */
  quick: boolean
  /** The smaller number in a short run. */
  of(full: number, quick: number): number
}

export type Bench = (scale: Scale) => Promise<Row[]>

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  if (sorted.length === 0) throw new Error('nothing was measured')
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]!
}

export const median = (values: readonly number[]): number => percentile(values, 0.5)

export const ms = (value: number): string => `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`
export const times = (value: number): string => `${value.toFixed(2)} ×`

/** Now in milliseconds since 1970, finer than Date.now. */
export const preciseNow = (): number => performance.timeOrigin + performance.now()
