import { Callout, Card, Flex, Grid, SegmentedControl, Table, Text } from '@radix-ui/themes'
import { ChartColumn } from 'lucide-react'
import { useSearchParams } from 'wouter'
import { useProjectNames } from '../../kit/choosers.tsx'
import { Answer, Empty, Page, Section } from '../../kit/page.tsx'
import { dollars, roughly } from '../../kit/words.ts'
import { useAsk } from '../../live/data.ts'
import { Bars } from './bars.tsx'
import { BY, daysUpTo, FIGURES, type Figure, sums } from './sums.ts'

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
      about="What sessions used, by day (UTC), as agents report it or from the table of prices"
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
                The usage of each session appears here, also while it is running.
              </Empty>
            )
          const { total, series, perDay } = sums(answer.spending, { by, figure })
          return (
            <>
              {answer.more && (
                <Callout.Root size="1" color="gray" highContrast mb="3">
                  <Callout.Text>
                    This period has too many entries to add up here, so the oldest are left out.
                  </Callout.Text>
                </Callout.Root>
              )}
              <Totals spending={answer.spending} />
              <Section title={`${FIGURES[figure].title} by day`}>
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
                      <Table.ColumnHeaderCell>{by}</Table.ColumnHeaderCell>
                      <Table.ColumnHeaderCell justify="end">{FIGURES[figure].title}</Table.ColumnHeaderCell>
                      <Table.ColumnHeaderCell justify="end">Share</Table.ColumnHeaderCell>
                      <Table.ColumnHeaderCell justify="end">Sessions</Table.ColumnHeaderCell>
                    </Table.Row>
                  </Table.Header>
                  <Table.Body>
                    {series.map(({ key, sum, sessions }) => (
                      <Table.Row key={key}>
                        <Table.RowHeaderCell>{nameOf(key)}</Table.RowHeaderCell>
                        <Table.Cell justify="end">{show(sum)}</Table.Cell>
                        <Table.Cell justify="end">{total ? Math.round((sum / total) * 100) : 0} %</Table.Cell>
                        <Table.Cell justify="end">{sessions}</Table.Cell>
                      </Table.Row>
                    ))}
                  </Table.Body>
                </Table.Root>
              </Section>
            </>
          )
        }}
      </Answer>
    </Page>
  )
}

function Totals({ spending }: { spending: Parameters<typeof sums>[0] }) {
  const of = (figure: Figure): number => sums(spending, { by: 'agent', figure }).total
  const cards: [string, string][] = [
    ['Cost', dollars(of('cost'))],
    ['Input tokens', roughly(of('input'))],
    ['Output tokens', roughly(of('output'))],
    ['Sessions', String(of('sessions'))],
  ]
  return (
    <Grid columns={{ initial: '2', sm: '4' }} gap="3" mb="5">
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
          {option}
          {suffix}
        </SegmentedControl.Item>
      ))}
    </SegmentedControl.Root>
  </Flex>
)
