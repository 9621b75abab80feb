import type { z } from 'zod'
import type { metrics } from '../operations/metrics.ts'
import type { Cli } from './command.ts'

type Answer<N extends (typeof metrics)[number]['name']> = z.infer<
  Extract<(typeof metrics)[number], { name: N }>['output']
>
type Metric = Answer<'get_metrics'>['metrics'][number]

interface Row {
  name: string
  labels: string
  value: string
}

export async function showMetrics(cli: Cli, all: boolean): Promise<undefined> {
  const { terminal } = cli
  const answer = await cli.ask<Answer<'get_metrics'>>('get_metrics', {})
  if (terminal.json) return void terminal.data(answer)
  const shown = answer.metrics.filter(({ name }) => all || name.startsWith('fleet_'))
  terminal.table<Row>(
    [
      { title: 'METRIC', value: ({ name }) => name },
      { title: 'LABELS', value: ({ labels }) => labels, flexible: true },
      { title: 'VALUE', value: ({ value }) => value, right: true },
    ],
    shown.flatMap(metric => rowsOf(metric, all)),
  )
  if (shown.some(({ type }) => type === 'histogram'))
    terminal.note('2 × 0.5 s means: measured twice, and half a second on average.')
  if (!all) terminal.note('Labels with the value 0 are left out; --all shows them.')
}

/** A histogram is one line: how often, and how long on average. */
function rowsOf({ name, type, samples }: Metric, all: boolean): Row[] {
  const isHistogram = type === 'histogram'
  const single = isHistogram ? samples.filter(({ suffix }) => suffix === '_count') : samples
  const sums = new Map(
    samples.filter(({ suffix }) => suffix === '_sum').map(({ labels, value }) => [inWords(labels), value]),
  )
  return single
    .filter(({ labels, value }) => all || value !== 0 || Object.keys(labels).length === 0)
    .map(({ labels, value }) => {
      const mean = value ? (sums.get(inWords(labels)) ?? 0) / value : 0
      const text = isHistogram ? `${value} × ${number(mean)} s` : number(value)
      return { name, labels: inWords(labels), value: text }
    })
}

const inWords = (labels: Record<string, string>): string =>
  Object.entries(labels)
    .map(([label, value]) => `${label}=${value}`)
    .join(' ')

const number = (value: number): string =>
  Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)))

export async function makeToken(cli: Cli): Promise<undefined> {
  const { terminal } = cli
  const answer = await cli.ask<Answer<'create_scrape_token'>>('create_scrape_token', {})
  terminal.tell(answer, () => {
    terminal.print(answer.token)
    terminal.note(
      'It reads /metrics and nothing else. It is shown only now; revoke it with fleet metrics --revoke-token.',
    )
    if (answer.replaced) terminal.note('The token before it no longer works.')
  })
}

export async function revokeToken(cli: Cli): Promise<undefined> {
  const { terminal } = cli
  const answer = await cli.ask<Answer<'revoke_scrape_token'>>('revoke_scrape_token', {})
  terminal.tell(answer, () => terminal.print(answer.revoked ? 'The token is revoked.' : 'There is no such token.'))
}
