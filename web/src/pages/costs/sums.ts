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

/** What the day will have cost at its end (UTC) at the pace so far; null: too early to say. */
export function forecast(spending: readonly Spending[], now: Date): number | null {
  const today = now.toISOString().slice(0, 10)
  const passed = (now.getTime() % DAY_MS) / DAY_MS
  if (passed < EARLIEST_FORECAST) return null
  const spent = spending.filter(({ day }) => day === today).reduce((sum, { cost_usd }) => sum + cost_usd, 0)
  return spent / passed
}
/** Two hours. */
const EARLIEST_FORECAST = 2 / 24

/** The names of models that used tokens but cost nothing, because nobody knows their price. */
export function unpriced(spending: readonly Spending[]): string[] {
  const some = spending.filter(each => each.cost_usd === 0 && FIGURES.input.of(each) + FIGURES.output.of(each) > 0)
  return [...new Set(some.map(({ model, agent }) => model ?? `an unknown model of ${agent}`))]
}

const COLUMNS = [
  ...(['day', 'project', 'agent', 'model', 'sessions', 'turns', 'input_tokens', 'output_tokens'] as const),
  ...(['reasoning_tokens', 'cache_read_tokens', 'cache_write_tokens', 'cost_usd'] as const),
]

/** The spending as a table for other programs. */
export function csvOf(spending: readonly Spending[], projectName: (id: string) => string): string {
  const rows = spending.map(each =>
    COLUMNS.map(name => cell(name === 'project' ? projectName(each.project_id) || each.project_id : each[name])),
  )
  return `${[COLUMNS, ...rows].map(row => row.join(',')).join('\r\n')}\r\n`
}

/** A program for tables must not take a name for a formula. */
function cell(value: string | number | null): string {
  if (typeof value === 'number') return String(value)
  const text = (value ?? '').replace(/^[=+\-@\t\r]/, "'$&")
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A round number at or above the largest value, for the top of an axis. */
export function axisTop(most: number): number {
  if (most <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(most))
  return [1, 2, 2.5, 5, 10].map(step => step * power).find(top => top >= most) ?? 10 * power
}
