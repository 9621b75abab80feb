import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import type { Sample } from '../../platform/measurements.ts'

/** It wakes the process this often, so it runs only while somebody scrapes. */
const RESOLUTION_MS = 20
const QUIET_MS = 5 * 60_000
const PERCENTILES = ['50', '90', '99', '100']

let histogram: IntervalHistogram | undefined
let quiet: NodeJS.Timeout | undefined

/** How late timers were since the last scrape. The first scrape after a quiet time begins to measure, and says 0. */
export function loopLag(): Sample[] {
  histogram ??= monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  const measured = histogram
  const samples = PERCENTILES.map(percentile => ({
    labels: { percentile },
    value: lagAt(measured, Number(percentile)),
  }))
  measured.reset()
  measured.enable()
  clearTimeout(quiet)
  quiet = setTimeout(() => measured.disable(), QUIET_MS).unref()
  return samples
}

/** The histogram has the time between two calls of its timer, which is the resolution if nothing was late. */
function lagAt(measured: IntervalHistogram, percentile: number): number {
  if (measured.count === 0) return 0
  const nanoseconds = percentile === 100 ? measured.max : measured.percentile(percentile)
  return Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000)
}
