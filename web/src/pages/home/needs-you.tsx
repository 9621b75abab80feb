import { Button, Card, Flex, Text } from '@radix-ui/themes'
import { CircleCheck } from 'lucide-react'
import { useMemo } from 'react'
import { Link } from 'wouter'
import { Lines, Problem, Section } from '../../kit/page.tsx'
import { firstOf, useSteady } from '../../kit/steady.ts'
import { useWaiting } from '../../kit/waiting.ts'
import { WaitingCard } from '../../kit/waiting-card.tsx'
import { plural } from '../../kit/words.ts'

const SHOWN = 5

/** The most urgent entries of the inbox, which can be decided here. */
export function NeedsYou() {
  const { entries, count, titles, inbox, isPending } = useWaiting()
  // Failures wait for nobody. They are in the inbox, and not in its number.
  const waiting = useMemo(() => entries.filter(({ kind }) => kind !== 'failure'), [entries])
  const failures = entries.length - waiting.length
  const { steady } = useSteady(waiting)
  return (
    <Section
      title={count ? `Needs you (${count})` : 'Needs you'}
      actions={
        <Flex gap="4">
          {failures > 0 && (
            <Button variant="ghost" color="red" highContrast asChild>
              <Link href="/inbox?kind=failure">{plural(failures, 'recent failure')}</Link>
            </Button>
          )}
          {count > SHOWN && (
            <Button variant="ghost" asChild>
              <Link href="/inbox">Open inbox</Link>
            </Button>
          )}
        </Flex>
      }
    >
      {inbox.error && !inbox.data && <Problem error={inbox.error} retry={() => inbox.refetch()} />}
      {isPending && !inbox.error && <Lines rows={2} height={110} />}
      {!isPending && steady.length === 0 && (
        <Card>
          <Flex gap="2" align="center">
            <CircleCheck size={18} aria-hidden className="all-well" />
            <Text size="2">Nothing needs you.</Text>
          </Flex>
        </Card>
      )}
      <Flex direction="column" gap="2">
        {firstOf(steady, SHOWN).map(entry => (
          <WaitingCard key={entry.id} entry={entry} titles={titles} />
        ))}
      </Flex>
    </Section>
  )
}
