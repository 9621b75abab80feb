import { Badge, Text } from '@radix-ui/themes'
import { plain } from '../../kit/plain.ts'
import { Dot } from '../../kit/status.tsx'
import { Time } from '../../kit/time.tsx'
import { plural } from '../../kit/words.ts'
import { HEALTH, type Member } from './words.ts'

/** That a member is not well: why, since when, what was done, and what comes next. */
export function Health({ member: { health } }: { member: Member }) {
  const { state, since, reason, done, next, restarts } = health
  if (state === 'healthy') return null
  const { word, tone } = HEALTH[state]
  return (
    <Text as="div" size="2" className="break" mt="1">
      <Badge color={tone} highContrast>
        <Dot tone={tone} />
        {word}
      </Badge>{' '}
      {since && (
        <Text color="gray">
          <Time at={since} />.{' '}
        </Text>
      )}
      {plain([reason ?? '', ...done.map(({ text }) => text)].join(' '))}
      {restarts > 0 && ` It was started again ${plural(restarts, 'time', 'times')}.`}
      <Text as="div" color="gray">
        {plain(next ?? 'Nothing more is done until it shows signs of life.')}
      </Text>
    </Text>
  )
}
