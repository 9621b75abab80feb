import { Flex, Progress, Text, Tooltip } from '@radix-ui/themes'
import type { Output } from '../../api/client.ts'
import { Elapsed } from '../../kit/time.tsx'
import { dollars, plural, roughly } from '../../kit/words.ts'

type Session = Output<'get_session'>

/** Its cost and how full its context is, updated live. */
export function Gauges({ session }: { session: Session }) {
  const { usage, context } = session
  const began = session.started_at ?? session.created_at
  const share = context?.window_tokens ? Math.min(100, (100 * context.used_tokens) / context.window_tokens) : undefined
  return (
    <Flex gap="4" align="center" wrap="wrap" className="gauges">
      <Text size="1" color="gray">
        <Elapsed from={began} to={session.ended_at} />
      </Text>
      {usage.turns > 0 && (
        <Text size="1" color="gray">
          {plural(usage.turns, 'turn')}
        </Text>
      )}
      {usage.input_tokens + usage.output_tokens > 0 && (
        <Tooltip content="tokens in, and out">
          <Text size="1" color="gray">
            {roughly(usage.input_tokens)} in · {roughly(usage.output_tokens)} out
          </Text>
        </Tooltip>
      )}
      {!!usage.cost_usd && (
        <Text size="1" weight="medium">
          {dollars(usage.cost_usd)}
        </Text>
      )}
      {usage.untold_answers > 0 && (
        <Text size="1" color="amber" highContrast>
          {plural(usage.untold_answers, 'answer')} not measured
        </Text>
      )}
      {context && (
        <Tooltip
          content={`${roughly(context.used_tokens)} of ${context.window_tokens ? roughly(context.window_tokens) : 'an unknown number of'} tokens in its context window`}
        >
          <Flex align="center" gap="2">
            <Text size="1" color="gray">
              Context {share === undefined ? roughly(context.used_tokens) : `${Math.round(share)} %`}
            </Text>
            {share !== undefined && (
              <Progress
                value={share}
                size="1"
                color={share > 80 ? 'amber' : undefined}
                className="context-gauge"
                aria-label="Context window used"
              />
            )}
          </Flex>
        </Tooltip>
      )}
    </Flex>
  )
}
