import type { Registry } from 'prom-client'
import type { Fleet } from '../fleet.ts'
import { collect } from './collecting.ts'
import type { Family } from './families.ts'

/** For each process: a process has one event loop and one memory. */
let ofProcess: Promise<Registry> | undefined

/** Their labels follow what Node happens to have open or to do, so they are no fixed set. */
const LEFT_OUT = /^nodejs_(active_(resources|handles|requests)|gc_duration_seconds|eventloop_lag.*)$/
/** prom-client would wake the process a hundred times a second for ever. `loopLag` measures it instead. */
const NEVER_MS = 2 ** 31 - 1

/** Loaded by the first scrape. */
async function processMetrics(): Promise<Registry> {
  const { Registry, collectDefaultMetrics } = await import('prom-client')
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS })
  for (const { name } of await registry.getMetricsAsJSON()) if (LEFT_OUT.test(name)) registry.removeSingleMetric(name)
  return registry
}

async function loaded(): Promise<Registry> {
  ofProcess ??= processMetrics()
  return ofProcess
}

/** What the registry asks of a metric. */
const asMetric = ({ name, help, type, samples }: Family) => ({
  name,
  help,
  type,
  get: async () => ({
    name,
    help,
    type,
    values: samples.map(({ suffix = '', labels, value }) => ({ metricName: name + suffix, labels, value })),
    aggregator: 'sum',
  }),
})

/** Everything measured, in the text format of Prometheus. */
export async function asText(fleet: Fleet): Promise<{ type: string; text: string }> {
  const { Registry } = await import('prom-client')
  const [families, ofNode] = await Promise.all([collect(fleet), loaded()])
  const ours = new Registry()
  for (const each of families) ours.registerMetric(asMetric(each) as never)
  return { type: ours.contentType, text: `${await ours.metrics()}\n${await ofNode.metrics()}` }
}

/** The same for programs that read JSON. A value that is no number is left out: JSON has none. */
export async function asJson(fleet: Fleet): Promise<Family[]> {
  const [families, ofNode] = await Promise.all([collect(fleet), loaded()])
  const known = (await ofNode.getMetricsAsJSON()) as unknown as NodeMetric[]
  const theirs = known.map(
    ({ name, help, type, values }): Family => ({
      name,
      help,
      type,
      samples: values
        .filter(({ value }) => Number.isFinite(value))
        .map(({ labels, value }) => ({ labels: textLabels(labels), value })),
    }),
  )
  return [...families, ...theirs]
}

interface NodeMetric extends Omit<Family, 'samples'> {
  values: { labels: Record<string, string | number>; value: number }[]
}

const textLabels = (labels: Record<string, string | number>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]))
