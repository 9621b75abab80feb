import { Flex, Progress, Text } from '@radix-ui/themes'
import type { Output } from '../api/client.ts'
import { Time } from './time.tsx'

type Window = Output<'list_agents'>['agents'][number]['windows'][number]

const NEARLY_USED_UP = 90

/** How much of a provider's quota is used. */
export function ProviderWindow({ window: { name, used_percent, resets_at } }: { window: Window }) {
  return (
    <div>
      <Flex justify="between" gap="2">
        <Text size="1">{name}</Text>
        <Text size="1" color="gray">
          {Math.round(used_percent)} % used
          {resets_at && (
            <>
              {' '}
              · resets <Time at={resets_at} />
            </>
          )}
        </Text>
      </Flex>
      <Progress
        value={Math.min(100, used_percent)}
        aria-label={`${name} used`}
        color={used_percent >= NEARLY_USED_UP ? 'red' : undefined}
        size="1"
      />
    </div>
  )
}
