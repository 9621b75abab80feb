import { Badge, Flex, Text } from '@radix-ui/themes'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Output } from '../../api/client.ts'
import { CheckLine } from '../../kit/check-line.tsx'
import '../../kit/fold.css'
import { Foreign } from '../../kit/foreign.tsx'
import { Answer, Lines } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { StatusBadge } from '../../kit/status.tsx'
import { Elapsed, Time } from '../../kit/time.tsx'
import { dollars, plural } from '../../kit/words.ts'
import { useAsk } from '../../live/data.ts'
import { OUTCOMES, ROUND_TONES } from './words.ts'

type Round = Output<'get_loop_details'>['rounds'][number]
type Detail = Output<'get_loop_round'>

interface LoopRoundProps {
  loop: string
  round: Round
  opened: boolean
}

/** One round: what was planned, what became of it, and what it cost. Its details are read when it is opened. */
export function LoopRound({ loop, round, opened }: LoopRoundProps) {
  const [isOpen, setIsOpen] = useState(opened)
  const { number, outcome, text, cost_usd, started_at, ended_at } = round
  return (
    <details
      className="fold loop-round"
      open={isOpen}
      onToggle={event => setIsOpen(event.currentTarget.open)}
      id={`round-${number}`}
    >
      <summary>
        <Text weight="medium">Round {number}</Text>
        <Badge color={outcome ? ROUND_TONES[outcome] : 'blue'} highContrast>
          {outcome ? OUTCOMES[outcome] : 'In progress'}
        </Badge>
        <Text size="1" color="gray">
          {outcome && `${dollars(cost_usd)} · `}
          <Elapsed from={started_at} to={ended_at} /> · <Time at={started_at} />
        </Text>
      </summary>
      <Flex direction="column" gap="3" className="loop-round-detail">
        {text && (
          <Text as="div" size="2">
            <Foreign text={text} />
          </Text>
        )}
        {isOpen && <Details loop={loop} number={number} />}
      </Flex>
    </details>
  )
}

function Details({ loop, number }: { loop: string; number: number }) {
  const detail = useAsk('get_loop_round', { loop_id: loop, number })
  return (
    <Answer of={detail} loading={<Lines rows={3} height={28} />}>
      {({ plan, planner, missions, checks }) => (
        <>
          {plan?.summary && (
            <Text as="div" size="2">
              <Foreign text={plan.summary} />
            </Text>
          )}
          {plan?.reason && plan.reason !== plan.summary && (
            <Text as="div" size="2">
              <Foreign text={plan.reason} tone="quiet" />
            </Text>
          )}
          {missions.length > 0 && <Missions missions={missions} />}
          {checks.length > 0 && (
            <div>
              <Text as="div" size="2" weight="medium" mb="1">
                Checks on the base branch
              </Text>
              {checks.map(check => (
                <CheckLine key={check.id} check={{ ...check, purpose: 'landing' }} />
              ))}
            </div>
          )}
          <Text size="2" color="gray">
            {plan ? <Link href={`/plans/${plan.id}`}>Plan</Link> : 'Its plan was deleted.'}
            {planner && (
              <>
                {' · '}
                <Link href={`/missions/${planner.mission_id}`}>Planner</Link> {dollars(planner.cost_usd)}
              </>
            )}
            {missions.length > 0 && ` · ${plural(missions.length, 'mission')} planned`}
          </Text>
        </>
      )}
    </Answer>
  )
}

const Missions = ({ missions }: Pick<Detail, 'missions'>) => (
  <ul className="loop-missions" aria-label="Missions of the round">
    {missions.map(({ title, mission, cost_usd }) => (
      <li key={mission?.id ?? title}>
        {mission ? (
          <StatusBadge mission={mission} />
        ) : (
          <Badge color="gray" highContrast>
            Not started
          </Badge>
        )}
        <span className="loop-mission-words">
          {mission ? <Link href={`/missions/${mission.id}`}>{plain(mission.title)}</Link> : plain(title)}
          {mission?.status_reason && mission.status !== 'done' && (
            <Text as="div" size="1" color="gray">
              {plain(mission.status_reason.text)}
            </Text>
          )}
        </span>
        <Text size="2" color="gray">
          {dollars(cost_usd)}
        </Text>
      </li>
    ))}
  </ul>
)
