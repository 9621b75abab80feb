import { Text } from '@radix-ui/themes'
import { Link } from 'wouter'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { plural } from '../../kit/words.ts'
import { groupOf, type Review } from './queue.ts'
import { ReviewFacts, RiskBadge } from './risk.tsx'

const SHOWN_REASONS = 3

/** One mission in the queue: its size, its risk, and its checks. */
export function QueueRow({ review, project }: { review: Review; project: string }) {
  const { mission, risk, overlaps } = review
  const why = groupOf(review) === 'ready' ? undefined : mission.status_reason?.text
  const reasons = risk.reasons.filter(reason => reason !== why)
  const [other] = overlaps
  return (
    <li className="queue-row">
      <div className="queue-head">
        <RiskBadge risk={risk} />
        <Link href={`/review/${mission.id}`} className="queue-title">
          {plain(mission.title)}
        </Link>
        <Text size="1" color="gray" className="queue-when">
          {plain([project, mission.agent].filter(Boolean).join(' · '))} <Time at={mission.updated_at} />
        </Text>
      </div>
      {why && (
        <Text as="div" size="2">
          {plain(why)}
        </Text>
      )}
      <ReviewFacts review={review} />
      {reasons.length > 0 && (
        <ul className="queue-reasons">
          {reasons.slice(0, SHOWN_REASONS).map(reason => (
            <li key={reason}>{plain(reason)}</li>
          ))}
          {reasons.length > SHOWN_REASONS && <li>{plural(reasons.length - SHOWN_REASONS, 'more reason')}</li>}
        </ul>
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
