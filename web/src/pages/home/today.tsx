import { Card, Flex, Progress, Text } from '@radix-ui/themes'
import { Link } from 'wouter'
import type { Output } from '../../api/client.ts'
import { May } from '../../kit/may.tsx'
import { Answer, Lines, Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { ProviderWindow } from '../../kit/provider-window.tsx'
import { Time } from '../../kit/time.tsx'
import { dollars, roughly } from '../../kit/words.ts'
import { useAsk } from '../../live/data.ts'

type Overview = Output<'get_overview'>
type Used = Overview['spent_today']['usage']

const NEARLY_SPENT_PERCENT = 90

const tokensOf = (used: Used): number =>
  used.input_tokens + used.output_tokens + used.cache_read_tokens + used.cache_write_tokens

/** Money and tokens of today, as budgets count them. */
export function Today() {
  const overview = useAsk('get_overview', {})
  return (
    <Section
      title="Today"
      actions={
        <May use="list_spending">
          <Text size="2" title="Days are in UTC, like budgets">
            <Link href="/costs">Costs</Link>
          </Text>
        </May>
      }
    >
      <Card>
        <Answer of={overview} loading={<Lines rows={2} height={40} />}>
          {({ spent_today: { usage, budget_usd, projects }, providers }) => {
            const capped = projects.filter(project => project.budget_usd !== null)
            return (
              <Flex direction="column" gap="3">
                <Flex gap="5">
                  <Figure value={dollars(usage.cost_usd)} word="spent" />
                  <Figure value={roughly(tokensOf(usage))} word="tokens" />
                </Flex>
                {budget_usd !== null && <Budget name="Daily budget" used={usage.cost_usd} of={budget_usd} />}
                {capped.map(project => (
                  <Budget
                    key={project.project_id}
                    name={`Budget of ${plain(project.name)}`}
                    used={project.usage.cost_usd}
                    of={project.budget_usd!}
                  />
                ))}
                {budget_usd === null && capped.length === 0 && (
                  <Text size="1" color="gray">
                    No daily budget.{' '}
                    <May use="set_settings">
                      <Link href="/settings">Set one</Link> to stop new work once it is spent.
                    </May>
                  </Text>
                )}
                <Providers of={providers} />
              </Flex>
            )
          }}
        </Answer>
      </Card>
    </Section>
  )
}

const Figure = ({ value, word }: { value: string; word: string }) => (
  <div>
    <Text as="div" size="6" weight="bold" className="figure">
      {value}
    </Text>
    <Text size="1" color="gray">
      {word}
    </Text>
  </div>
)

function Budget({ name, used, of }: { name: string; used: number; of: number }) {
  const percent = Math.min(100, (used / of) * 100)
  return (
    <div>
      <Flex justify="between" gap="2">
        <Text size="1">{name}</Text>
        <Text size="1" color="gray">
          {dollars(used)} of {dollars(of)}
        </Text>
      </Flex>
      <Progress
        value={percent}
        size="1"
        aria-label={name}
        color={percent >= NEARLY_SPENT_PERCENT ? 'red' : undefined}
      />
    </div>
  )
}

/** How much of the providers' quotas is used, if their clients report it. */
function Providers({ of: providers }: { of: Overview['providers'] }) {
  return providers
    .filter(({ windows, held_until }) => windows.length || held_until)
    .map(({ id, windows, held_until }) => (
      <Flex key={id} direction="column" gap="1">
        <Text size="2" weight="medium">
          {id}
          {held_until && Date.parse(held_until) > Date.now() && (
            <Text size="1" color="amber" highContrast>
              {' '}
              on hold until <Time at={held_until} />
            </Text>
          )}
        </Text>
        {windows.map(window => (
          <ProviderWindow key={window.name} window={window} />
        ))}
      </Flex>
    ))
}
