import type { Output } from '../../api/client.ts'

export type Spending = Output<'list_spending'>['spending'][number]

export const BY = ['project', 'agent', 'model'] as const
export type By = (typeof BY)[number]

export const FIGURES = {
  cost: { title: 'Cost', of: (each: Spending) => each.cost_usd },
  input: {
    title: 'Input tokens',
    of: (each: Spending) => each.input_tokens + each.cache_read_tokens + each.cache_write_tokens,
  },
  output: { title: 'Output tokens', of: (each: Spending) => each.output_tokens },
  sessions: { title: 'Sessions', of: (each: Spending) => each.sessions },
} as const
export type Figure = keyof typeof FIGURES

const keyOf = {
  project: (each: Spending) => each.project_id,
  agent: (each: Spending) => each.agent,
  model: (each: Spending) => each.model ?? 'unknown',
}

export interface Sums {
  total: number
  /** Largest first. */
  series: { key: string; sum: number; sessions: number }[]
  perDay: Map<string, Map<string, number>>
}

/** Sums the usage by day and by the chosen field. */
export function sums(spending: readonly Spending[], { by, figure }: { by: By; figure: Figure }): Sums {
  const series = new Map<string, { key: string; sum: number; sessions: number }>()
  const perDay: Sums['perDay'] = new Map()
  for (const each of spending) {
    const key = keyOf[by](each)
    const value = FIGURES[figure].of(each)
    const one = series.get(key) ?? { key, sum: 0, sessions: 0 }
    series.set(key, { key, sum: one.sum + value, sessions: one.sessions + each.sessions })
    const day = perDay.get(each.day) ?? new Map<string, number>()
    perDay.set(each.day, day.set(key, (day.get(key) ?? 0) + value))
  }
  const sorted = [...series.values()].sort((a, b) => b.sum - a.sum)
  return { total: sorted.reduce((sum, each) => sum + each.sum, 0), series: sorted, perDay }
}

const DAY_MS = 24 * 3600 * 1000

/** This many days up to the last one, oldest first, as `2026-11-15`. */
export const daysUpTo = (last: Date, count: number): string[] =>
  Array.from({ length: count }, (_, back) =>
    new Date(last.getTime() - (count - 1 - back) * DAY_MS).toISOString().slice(0, 10),
  )
