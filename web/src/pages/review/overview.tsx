import { Badge, Text } from '@radix-ui/themes'
import { Link } from 'wouter'
import type { Output } from '../../api/client.ts'
import { CheckLine } from '../../kit/check-line.tsx'
import { Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { ReportView } from '../../kit/report.tsx'
import { StatusBadge } from '../../kit/status.tsx'
import { withoutIds } from '../../kit/without-ids.ts'
import { plural } from '../../kit/words.ts'
import { type Comment, CommentCard } from './comments.tsx'
import { namedIn, type Review } from './queue.ts'
import { ReviewFacts } from './risk.tsx'

interface OverviewProps {
  review: Review
  detail: Output<'get_mission'>
  /** Comments that are not shown on a line. */
  comments: readonly Comment[]
}

const INCLUDED: Record<Review['includes'][number]['standing'], string> = {
  landed: ', which has landed.',
  approved: ', which lands with it.',
  handed_on: ', which lands with it.',
  unapproved: ', which is not approved yet. Decide about that one first.',
}

/** What to know before reading the diff. */
export function Overview({ review, detail, comments }: OverviewProps) {
  const { mission, risk, overlaps, checks } = review
  const checked = newestChecks(detail)
  return (
    <div className="overview">
      <div className="overview-side">
        <Section title="Risk">
          <ReviewFacts review={review} />
          {risk.reasons.length > 0 ? (
            <ul className="overview-reasons">
              {risk.reasons.map(({ label, text }) => (
                <li key={text}>
                  <Badge color="gray" highContrast>
                    {label}
                  </Badge>{' '}
                  {plain(withoutIds(text, namedIn(review)))}
                </li>
              ))}
            </ul>
          ) : (
            <Text as="p" size="2" color="gray">
              Nothing stands out: a small change, no overlaps, and the checks passed.
            </Text>
          )}
          {review.candidate && (
            <Text as="p" size="2" color="gray" mt="2">
              Landing adds exactly what is shown here: <code>{review.candidate.commit.slice(0, 12)}</code>
            </Text>
          )}
          {review.includes.map(({ mission_id, title, files, files_omitted, standing }) => (
            <Text as="p" size="2" key={mission_id} className="overview-overlap">
              Includes {plural(files.length + files_omitted, 'file')} of{' '}
              <Link href={`/review/${mission_id}`}>“{plain(title)}”</Link>
              {INCLUDED[standing]}
            </Text>
          ))}
          {overlaps.map(({ mission_id, title, files }) => (
            <Text as="p" size="2" key={mission_id} className="overview-overlap">
              <Link href={`/compare?first=${mission.id}&second=${mission_id}`}>Compare with “{plain(title)}”</Link>,
              which also changes {files.length === 1 ? plain(files[0]!) : `${files.length} of these files`}.
            </Text>
          ))}
          <SessionsLink detail={detail} />
        </Section>
        <Section title="Checks">
          {checked.map(check => (
            <CheckLine key={check.id} check={check} />
          ))}
          {checks.missing.length > 0 && (
            <Text as="p" size="2" color="gray">
              {checks.missing.map(plain).join(', ')} {checks.missing.length > 1 ? 'run' : 'runs'} before it lands.
            </Text>
          )}
          {checked.length + checks.missing.length === 0 && (
            <Text as="p" size="2" color="gray">
              No checks. <Link href={`/projects/${mission.project_id}`}>Add one</Link>
            </Text>
          )}
        </Section>
      </div>
      <div className="overview-words">
        <Section title="Report" actions={<StatusBadge mission={mission} />}>
          {detail.report ? (
            <ReportView report={detail.report} files={false} />
          ) : (
            <Text size="2" color="gray">
              No report.
            </Text>
          )}
        </Section>
        {comments.length > 0 && (
          <Section title="Comments">
            {comments.map(comment => (
              <CommentCard key={comment.id} comment={comment} />
            ))}
          </Section>
        )}
      </div>
    </div>
  )
}

/** The last run of each check on this work. */
function newestChecks({ evidence, session_id, sessions }: Output<'get_mission'>): Output<'get_mission'>['evidence'] {
  const ended = sessions.find(({ id }) => id === session_id)?.ended_at ?? ''
  const newest = new Map(
    evidence
      .filter(({ purpose, created_at }) => purpose === 'landing' && created_at >= ended)
      .map(each => [each.name, each]),
  )
  return [...newest.values()].toSorted((a, b) => Number(a.passed) - Number(b.passed))
}

function SessionsLink({ detail: { sessions } }: { detail: Output<'get_mission'> }) {
  const [before, last] = sessions.slice(-2)
  if (!before || !last) return null
  return (
    <Text as="p" size="2" className="overview-overlap">
      <Link href={`/compare?first=${before.id}&second=${last.id}&of=sessions`}>Compare with the previous session</Link>
    </Text>
  )
}
