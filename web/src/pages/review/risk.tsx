import { Badge, Text } from '@radix-ui/themes'
import { Check, CircleDashed, FlaskConical, X } from 'lucide-react'
import { isTest } from '../../../../src/domain/rules/test-files.ts'
import { LineCounts } from '../../kit/diff/line-counts.tsx'
import { plain } from '../../kit/plain.ts'
import { plural } from '../../kit/words.ts'
import type { Review } from './queue.ts'
import './risk.css'

const WORDS = { low: 'Low risk', medium: 'Medium risk', high: 'High risk' } as const
const TONES = { low: 'green', medium: 'amber', high: 'red' } as const

export const RiskBadge = ({ risk }: Pick<Review, 'risk'>) => (
  <Badge color={TONES[risk.level]} variant="soft" highContrast title={`${risk.score} of 100`}>
    {WORDS[risk.level]}
  </Badge>
)

/** The size, touched tests and checks on one line. */
export function ReviewFacts({ review }: { review: Review }) {
  const { files, files_omitted, added, deleted, checks, overlaps, comments } = review
  const tests = files.filter(({ path }) => isTest(path)).length
  return (
    <Text as="div" size="1" className="review-facts">
      <LineCounts added={added} deleted={deleted} />
      <span>{plural(files.length + files_omitted, 'file')}</span>
      <span>
        <FlaskConical size={13} aria-hidden /> {tests ? plural(tests, 'test file') : 'no tests'}
      </span>
      {checks.failed.length > 0 && (
        <span className="review-bad">
          <X size={13} aria-hidden /> {checks.failed.map(plain).join(', ')} failed
        </span>
      )}
      {checks.passed.length > 0 && (
        <span className="review-good">
          <Check size={13} aria-hidden /> {plural(checks.passed.length, 'check')} passed
        </span>
      )}
      {checks.missing.length > 0 && (
        <span>
          <CircleDashed size={13} aria-hidden /> {plural(checks.missing.length, 'check')} not run yet
        </span>
      )}
      {overlaps.length > 0 && <span>overlaps with {plural(overlaps.length, 'other mission')}</span>}
      {comments > 0 && <span>{plural(comments, 'pending comment')}</span>}
    </Text>
  )
}
