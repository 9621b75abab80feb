import { Badge, Flex, Text } from '@radix-ui/themes'
import { Link } from 'wouter'
import { useAgentTitle } from '../../kit/agent-title.ts'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { withoutIds } from '../../kit/without-ids.ts'
import { groupOf, namedIn, type Review } from './queue.ts'
import { ReviewFacts, RiskBadge } from './risk.tsx'

/** One mission in the queue: its size, its risk, and its checks. */
export function QueueRow({ review, project }: { review: Review; project: string }) {
  const { mission, risk, overlaps } = review
  const titleOf = useAgentTitle()
  const why = groupOf(review) === 'ready' ? undefined : mission.status_reason?.text
  const reasons = risk.reasons.filter(({ text }) => text !== why)
  const words = (text: string) => plain(withoutIds(text, namedIn(review)))
  const [other] = overlaps
  return (
    <li className="queue-row">
      <div className="queue-head">
        <RiskBadge risk={risk} />
        <Link href={`/review/${mission.id}`} className="queue-title">
          {plain(mission.title)}
        </Link>
        <Text size="1" color="gray" className="queue-when">
          {plain([project, mission.agent && titleOf(mission.agent)].filter(Boolean).join(' · '))} ·{' '}
          <Time at={mission.updated_at} />
        </Text>
      </div>
      {why && (
        <Text as="div" size="2">
          {words(why)}
        </Text>
      )}
      <ReviewFacts review={review} />
      {reasons.length > 0 && (
        <>
          <Flex gap="1" wrap="wrap" asChild>
            <ul className="queue-reasons" aria-label="Reasons to look closely">
              {reasons.map(({ label, text }) => (
                <li key={text}>
                  <Badge color="gray" highContrast title={words(text)}>
                    {label}
                  </Badge>
                </li>
              ))}
            </ul>
          </Flex>
          <Text as="div" size="2" color="gray">
            {words(reasons[0]!.text)}
          </Text>
        </>
      )}
      {other && (
        <Text size="1">
          <Link href={`/compare?first=${mission.id}&second=${other.mission_id}`}>
            Compare with “{plain(other.title)}”
          </Link>
        </Text>
      )}
    </li>
  )
}
