import { Button, Flex, Text } from '@radix-ui/themes'
import { lazy, Suspense } from 'react'
import { Lines } from '../../kit/page.tsx'
import { capital } from '../../kit/words.ts'
import { useCommand } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'
import { useWho } from '../../live/names.ts'
import type { Detail } from './actions.ts'
import { HandBack } from './why.tsx'

const Screen = lazy(() => import('./terminal-screen.tsx'))

interface TakenOverTerminalProps {
  mission: Detail
  /** Called when the client printed something. */
  grown(): void
}

/** The terminal of a mission that was taken over in this or another window. */
export function TakenOverTerminal({ mission, grown }: TakenOverTerminalProps) {
  const who = useWho()
  const mayUse = useMay('open_terminal', mission.project_id)
  const session = mission.sessions.find(({ id }) => id === mission.taken_over?.session_id)
  if (!mayUse)
    return (
      <Text as="p" size="2" m="3" role="status">
        {capital(who(mission.taken_over?.by ?? ''))} took this mission over.
      </Text>
    )
  if (session?.status !== 'running') return <Waiting mission={mission} />
  return (
    <div className="terminal">
      <Flex align="center" justify="between" gap="3" wrap="wrap" className="terminal-head">
        <Text size="2">
          {who(mission.taken_over?.by ?? '') === 'you'
            ? 'You have'
            : `${capital(who(mission.taken_over?.by ?? ''))} has`}{' '}
          taken over. The agent is stopped.
        </Text>
        <HandBack mission={mission} />
      </Flex>
      <Suspense fallback={<Lines rows={6} />}>
        <Screen key={session.id} missionId={mission.id} grown={grown} />
      </Suspense>
    </div>
  )
}

function Waiting({ mission }: { mission: Detail }) {
  const { run, busy } = useCommand('hand_back_mission')
  const isRunning = mission.status === 'running'
  return (
    <Flex direction="column" align="start" gap="3" p="3" role="status">
      <Text size="2">
        {isRunning ? 'Waiting for a safe moment to stop the agent…' : 'Opening the conversation of the agent…'}
      </Text>
      {isRunning && (
        <Button variant="soft" loading={busy} onClick={() => run({ mission_id: mission.id, next: 'resume' })}>
          Let the agent continue
        </Button>
      )}
    </Flex>
  )
}
