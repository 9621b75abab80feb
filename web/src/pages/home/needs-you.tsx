import { Button, Card, Flex, Text } from '@radix-ui/themes'
import { CircleCheck } from 'lucide-react'
import { Link } from 'wouter'
import { Lines, Problem, Section } from '../../kit/page.tsx'
import { firstOf, useSteady } from '../../kit/steady.ts'
import { useWaiting } from '../../kit/waiting.ts'
import { WaitingCard } from '../../kit/waiting-card.tsx'

const SHOWN = 3

/** The most urgent entries of the inbox, which can be decided here. */
export function NeedsYou() {
  const { entries, count, titles, inbox, isPending } = useWaiting()
  const { steady } = useSteady(entries)
  const more = entries.length - SHOWN
  return (
    <Section
      title={count ? `Needs you (${count})` : 'Needs you'}
      actions={
        more > 0 && (
          <Button variant="ghost" asChild>
            <Link href="/inbox">Open the inbox</Link>
          </Button>
        )
      }
    >
      {inbox.error && !inbox.data && <Problem error={inbox.error} retry={() => inbox.refetch()} />}
      {isPending && !inbox.error && <Lines rows={2} height={110} />}
      {!isPending && steady.length === 0 && (
        <Card>
          <Flex gap="2" align="center">
            <CircleCheck size={18} aria-hidden className="all-well" />
            <Text size="2">Nothing waits for you.</Text>
          </Flex>
        </Card>
      )}
      <Flex direction="column" gap="3">
        {firstOf(steady, SHOWN).map(entry => (
          <WaitingCard key={entry.id} entry={entry} titles={titles} />
        ))}
      </Flex>
    </Section>
  )
}
