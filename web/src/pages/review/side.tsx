import { Card, Flex, Heading, Text } from '@radix-ui/themes'
import type { ReactNode } from 'react'
import type { Output } from '../../api/client.ts'
import { CheckLine } from '../../kit/check-line.tsx'
import { Markdown } from '../../kit/markdown.tsx'
import { dollars, duration, plural, roughly } from '../../kit/words.ts'

export interface Compared {
  title: ReactNode
  about: ReactNode
  summary: string
  seconds: number
  usage: Output<'get_mission'>['usage']
  evidence: Output<'get_mission'>['evidence']
  files: Output<'compare_missions'>['first']['files']
  diff: string
  actions: ReactNode
}

/** One side of a comparison. Both sides have the same parts at the same height. */
export function Side({ side, other }: { side: Compared; other: Compared }) {
  const { usage } = side
  const tokens = usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens
  const newest = [...new Map(side.evidence.map(each => [each.name, each])).values()]
  return (
    <Card className="compare-side">
      <Heading as="h2" size="4" mb="1">
        {side.title}
      </Heading>
      <Text as="div" size="2" color="gray" mb="3">
        {side.about}
      </Text>
      <dl className="compare-facts">
        <dt>Cost</dt>
        <Less mine={usage.cost_usd} theirs={other.usage.cost_usd} inWords={dollars} />
        <dt>Time</dt>
        <Less mine={side.seconds} theirs={other.seconds} inWords={duration} />
        <dt>Tokens</dt>
        <dd>{roughly(tokens)}</dd>
        <dt>Changed</dt>
        <dd>{plural(side.files.length, 'file')}</dd>
      </dl>
      <div className="compare-checks">
        {newest.map(check => (
          <CheckLine key={check.id} check={check} />
        ))}
        {newest.length === 0 && (
          <Text size="2" color="gray">
            No check has run on it yet.
          </Text>
        )}
      </div>
      <div className="compare-summary">
        {side.summary ? <Markdown text={side.summary} /> : <Text color="gray">It gave no summary.</Text>}
      </div>
      <Flex gap="2" wrap="wrap" mt="auto">
        {side.actions}
      </Flex>
    </Card>
  )
}

/** Marked if it is less than the other's, as shown. */
function Less({ mine, theirs, inWords }: { mine: number; theirs: number; inWords(value: number): string }) {
  const less = mine < theirs && inWords(mine) !== inWords(theirs)
  return <dd className={less ? 'compare-better' : undefined}>{inWords(mine)}</dd>
}
