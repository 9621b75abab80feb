import { Badge, Callout, Card, Flex, Progress, Text } from '@radix-ui/themes'
import { Info, Repeat } from 'lucide-react'
import { Link, useParams, useSearchParams } from 'wouter'
import type { Output } from '../../api/client.ts'
import { useProjectNames } from '../../kit/choosers.tsx'
import { Facts } from '../../kit/facts.tsx'
import { Foreign } from '../../kit/foreign.tsx'
import { Answer, Empty, Page, Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Elapsed, Time } from '../../kit/time.tsx'
import { dollars } from '../../kit/words.ts'
import { useAsk } from '../../live/data.ts'
import { Controls } from './controls.tsx'
import './loop.css'
import { LoopRound } from './round.tsx'
import { TONES, WORDS } from './words.ts'

type Loop = Output<'get_loop_details'>

export default function LoopPage() {
  const { loop_id = '' } = useParams()
  const loop = useAsk('get_loop_details', { loop_id })
  return (
    <Answer
      of={loop}
      loading={
        <Page title="Loop">
          <div />
        </Page>
      }
    >
      {found => <Shown loop={found} />}
    </Answer>
  )
}

function Shown({ loop }: { loop: Loop }) {
  const [search] = useSearchParams()
  const nameOf = useProjectNames()
  const { id, goal, status, ending, waits_for, rounds, project_id } = loop
  const opened = Number(search.get('round')) || rounds.at(-1)?.number
  return (
    <Page
      title={plain(goal).split('\n')[0]!.slice(0, 120)}
      about={
        <Flex gap="2" align="center" wrap="wrap">
          <Badge color={TONES[status]} highContrast>
            {WORDS[status]}
          </Badge>
          Loop in <Link href={`/projects/${project_id}`}>{plain(nameOf(project_id)) || 'its project'}</Link>
        </Flex>
      }
      actions={<Controls project={project_id} status={status} />}
    >
      {(ending ?? waits_for) && (
        <Callout.Root color={ending ? TONES[ending.status] : 'gray'} highContrast mb="4">
          <Callout.Icon>
            <Info size={16} />
          </Callout.Icon>
          <Callout.Text className="break">
            {ending ? plain(ending.text) : `Waiting for ${plain(waits_for!)}.`}
          </Callout.Text>
        </Callout.Root>
      )}
      <div className="loop">
        <div className="loop-main">
          <Section title="Rounds">
            {rounds.length === 0 ? (
              <Empty icon={Repeat} title="No rounds yet">
                The first round begins when its planner starts.
              </Empty>
            ) : (
              <Flex direction="column" gap="3">
                {rounds.toReversed().map(round => (
                  <LoopRound key={round.number} loop={id} round={round} opened={round.number === opened} />
                ))}
              </Flex>
            )}
          </Section>
        </div>
        <aside className="loop-side">
          <Section title="Goal">
            <Card>
              <Foreign text={goal} lines={30} />
            </Card>
          </Section>
          <Section title="Limits">
            <Card>
              <Used loop={loop} />
            </Card>
          </Section>
        </aside>
      </div>
    </Page>
  )
}

/** How much of what it may use is used. */
function Used({ loop }: { loop: Loop }) {
  const { rounds, max_rounds, spent_usd, max_budget_usd, max_failures, agent, model, created_at, ended_at } = loop
  return (
    <Flex direction="column" gap="4">
      <Gauge
        label="Budget"
        words={
          max_budget_usd === null
            ? `${dollars(spent_usd)}, no limit`
            : `${dollars(spent_usd)} of ${dollars(max_budget_usd)}`
        }
        part={max_budget_usd === null ? null : spent_usd / max_budget_usd}
      />
      <Gauge label="Rounds" words={`${rounds.length} of ${max_rounds}`} part={rounds.length / max_rounds} />
      <Facts
        of={{
          'Stops after': `${max_failures} failed rounds in a row`,
          Planner: plain([agent ?? "the project's agent", model].filter(Boolean).join(', ')),
          Started: <Time at={created_at} />,
          Ended: ended_at && <Time at={ended_at} />,
          Took: <Elapsed from={created_at} to={ended_at} />,
        }}
      />
    </Flex>
  )
}

function Gauge({ label, words, part }: { label: string; words: string; part: number | null }) {
  return (
    <div>
      <Flex justify="between" mb="1">
        <Text size="2" color="gray">
          {label}
        </Text>
        <Text size="2">{words}</Text>
      </Flex>
      {part !== null && <Progress value={Math.min(100, part * 100)} aria-label={`${label}: ${words}`} />}
    </div>
  )
}
