import { Button, Callout, Card, Flex, Grid, SegmentedControl, Table, Text } from '@radix-ui/themes'
import { ChartColumn, Download } from 'lucide-react'
import { Link, useSearchParams } from 'wouter'
import { useProjectNames } from '../../kit/choosers.tsx'
import { download } from '../../kit/download.ts'
import { Answer, Empty, Page, Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { capital, dollars, roughly } from '../../kit/words.ts'
import { useAsk } from '../../live/data.ts'
import { Bars } from './bars.tsx'
import { BY, csvOf, daysUpTo, FIGURES, type Figure, forecast, type Spending, sums, unpriced } from './sums.ts'

const SPANS = ['7', '30', '90', '365']

const chosen = <T extends string>(said: string | null, options: readonly T[]): T | undefined =>
  options.find(option => option === said)

export default function Costs() {
  const [search, setSearch] = useSearchParams()
  const days = chosen(search.get('days'), SPANS) ?? '30'
  const by = chosen(search.get('by'), BY) ?? 'project'
  const figure = chosen(search.get('of'), Object.keys(FIGURES) as Figure[]) ?? 'cost'
  const spending = useAsk('list_spending', { days: Number(days) }, { keep: true })
  const projectName = useProjectNames()
  const nameOf = (key: string): string => (by === 'project' ? projectName(key) || key : key)
  const change = (field: string) => (value: string) =>
    setSearch(before => ({ ...Object.fromEntries(before), [field]: value }), { replace: true })
  const show = figure === 'cost' ? dollars : roughly
  return (
    <Page
      title="Costs"
      about="By day (UTC), as agents report it, or from list prices where they report only tokens"
      actions={
        <>
          <Choice label="Measure" value={figure} set={change('of')} options={Object.keys(FIGURES)} />
          <Choice label="Split by" value={by} set={change('by')} options={BY} />
          <Choice label="Days" value={days} set={change('days')} options={SPANS} suffix=" d" />
        </>
      }
    >
      <Answer of={spending}>
        {answer => {
          if (answer.spending.length === 0)
            return (
              <Empty icon={ChartColumn} title="No spending in this period">
                The usage of each session appears here, even while it is running.
              </Empty>
            )
          const { total, series, perDay } = sums(answer.spending, { by, figure })
          const noPrice = figure === 'cost' && by === 'model' ? unpriced(answer.spending) : []
          return (
            <>
              {answer.more && (
                <Callout.Root size="1" color="gray" highContrast mb="3">
                  <Callout.Text>
                    This period has too many entries to add up here, so the oldest are left out.
                  </Callout.Text>
                </Callout.Root>
              )}
              <Unpriced models={unpriced(answer.spending)} />
              <Totals spending={answer.spending} />
              <Section
                title={`${FIGURES[figure].title} by day`}
                actions={
                  <Button
                    variant="soft"
                    color="gray"
                    highContrast
                    onClick={() => download(`costs-${days}-days.csv`, 'text/csv', csvOf(answer.spending, projectName))}
                  >
                    <Download size={14} /> Export CSV
                  </Button>
                }
              >
                <Card>
                  <Bars
                    days={daysUpTo(new Date(), Number(days))}
                    perDay={perDay}
                    series={series.map(({ key }) => ({ key, name: nameOf(key) }))}
                    show={show}
                    title={FIGURES[figure].title}
                  />
                </Card>
              </Section>
              <Section title={`By ${by}`}>
                <Table.Root variant="surface">
                  <Table.Header>
                    <Table.Row>
                      <Table.ColumnHeaderCell>{capital(by)}</Table.ColumnHeaderCell>
                      <Table.ColumnHeaderCell justify="end">{FIGURES[figure].title}</Table.ColumnHeaderCell>
                      <Table.ColumnHeaderCell justify="end">Share</Table.ColumnHeaderCell>
                      <Table.ColumnHeaderCell justify="end">Sessions</Table.ColumnHeaderCell>
                    </Table.Row>
                  </Table.Header>
                  <Table.Body>
                    {series.map(({ key, sum, sessions }) => (
                      <Table.Row key={key}>
                        <Table.RowHeaderCell>{nameOf(key)}</Table.RowHeaderCell>
                        <Table.Cell justify="end">{noPrice.includes(key) ? 'Unknown' : show(sum)}</Table.Cell>
                        <Table.Cell justify="end">{total ? Math.round((sum / total) * 100) : 0} %</Table.Cell>
                        <Table.Cell justify="end">{sessions}</Table.Cell>
                      </Table.Row>
                    ))}
                  </Table.Body>
                </Table.Root>
              </Section>
              <MissionCosts days={Number(days)} />
            </>
          )
        }}
      </Answer>
    </Page>
  )
}

function Unpriced({ models }: { models: readonly string[] }) {
  if (!models.length) return null
  return (
    <Callout.Root size="1" color="amber" highContrast mb="3">
      <Callout.Text>
        The price is not known: {models.map(plain).join(', ')}. These tokens are counted, but their cost is missing.
      </Callout.Text>
    </Callout.Root>
  )
}

function MissionCosts({ days }: { days: number }) {
  const costs = useAsk('list_mission_costs', { days }, { keep: true })
  const projectName = useProjectNames()
  return (
    <Section title="Most expensive missions">
      <Answer of={costs}>
        {({ missions, more }) => (
          <>
            <Table.Root variant="surface">
              <Table.Header>
                <Table.Row>
                  <Table.ColumnHeaderCell>Mission</Table.ColumnHeaderCell>
                  <Table.ColumnHeaderCell>Project</Table.ColumnHeaderCell>
                  <Table.ColumnHeaderCell justify="end">Cost</Table.ColumnHeaderCell>
                  <Table.ColumnHeaderCell justify="end">Output tokens</Table.ColumnHeaderCell>
                  <Table.ColumnHeaderCell justify="end">Sessions</Table.ColumnHeaderCell>
                </Table.Row>
              </Table.Header>
              <Table.Body>
                {missions.map(({ mission_id, title, project_id, sessions, usage }) => (
                  <Table.Row key={mission_id}>
                    <Table.RowHeaderCell>
                      {title ? <Link href={`/missions/${mission_id}`}>{plain(title)}</Link> : 'A deleted mission'}
                    </Table.RowHeaderCell>
                    <Table.Cell>{plain(projectName(project_id))}</Table.Cell>
                    <Table.Cell justify="end">{dollars(usage.cost_usd)}</Table.Cell>
                    <Table.Cell justify="end">{roughly(usage.output_tokens)}</Table.Cell>
                    <Table.Cell justify="end">{sessions}</Table.Cell>
                  </Table.Row>
                ))}
              </Table.Body>
            </Table.Root>
            {more && (
              <Text as="p" size="1" color="gray">
                Only the newest sessions of this period are counted here.
              </Text>
            )}
          </>
        )}
      </Answer>
    </Section>
  )
}

function Totals({ spending }: { spending: readonly Spending[] }) {
  const of = (figure: Figure): number => sums(spending, { by: 'agent', figure }).total
  const expected = forecast(spending, new Date())
  const cards: [string, string][] = [
    ['Cost', dollars(of('cost'))],
    ['Forecast for today', expected === null ? 'Too early' : dollars(expected)],
    ['Input tokens', roughly(of('input'))],
    ['Output tokens', roughly(of('output'))],
    ['Sessions', String(of('sessions'))],
  ]
  return (
    <Grid columns={{ initial: '2', sm: '5' }} gap="3" mb="5">
      {cards.map(([name, value]) => (
        <Card key={name}>
          <Text as="div" size="1" color="gray">
            {name}
          </Text>
          <Text size="6" weight="medium">
            {value}
          </Text>
        </Card>
      ))}
    </Grid>
  )
}

interface ChoiceProps {
  label: string
  value: string
  set(value: string): void
  options: readonly string[]
  suffix?: string
}

const Choice = ({ label, value, set, options, suffix = '' }: ChoiceProps) => (
  <Flex aria-label={label} role="group">
    <SegmentedControl.Root value={value} onValueChange={set} size="1">
      {options.map(option => (
        <SegmentedControl.Item key={option} value={option}>
          {capital(option)}
          {suffix}
        </SegmentedControl.Item>
      ))}
    </SegmentedControl.Root>
  </Flex>
)
