import { Button, Code, Flex, Text } from '@radix-ui/themes'
import { ExternalLink, Upload } from 'lucide-react'
import { plain, safeLink } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { tell } from '../../kit/toasts.tsx'
import { useCommand } from '../../live/data.ts'
import type { Detail } from './actions.ts'
import { canPropose } from './pull-request.tsx'

/** Where its branch was pushed, and a button that pushes the candidate as it is shown. */
export function Pushed({ mission }: { mission: Detail }) {
  const { pushed, candidate, id } = mission
  const push = useCommand('push_mission', { affects: ['get_mission'] })
  const address = safeLink(pushed?.url ?? null)
  const isCurrent = pushed !== null && pushed.commit === candidate?.commit
  return (
    <Flex direction="column" gap="2" align="start" minWidth="0">
      {pushed && (
        <Text className="break">
          <Code variant="ghost">{pushed.commit.slice(0, 10)}</Code> to{' '}
          {address ? (
            <a href={address} target="_blank" rel="noreferrer noopener" title={address}>
              {plain(pushed.branch)} <ExternalLink size={12} aria-hidden />
            </a>
          ) : (
            plain(pushed.branch)
          )}{' '}
          of {plain(pushed.remote)} ({plain(pushed.address)}), <Time at={pushed.at} />
        </Text>
      )}
      {canPropose(mission) && candidate && !isCurrent && (
        <Button
          size="1"
          variant="soft"
          highContrast
          loading={push.busy}
          onClick={async () => {
            const answer = await push.run({ mission_id: id, expected: candidate.commit })
            if (answer?.pushed)
              tell({ text: `Pushed to ${plain(answer.pushed.branch)} of ${plain(answer.pushed.remote)}` })
          }}
        >
          <Upload size={13} aria-hidden /> {pushed ? 'Push the new work' : 'Push branch'}
        </Button>
      )}
    </Flex>
  )
}
