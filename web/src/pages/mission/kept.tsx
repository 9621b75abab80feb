import { Badge, Button, Card, Code, Flex, Text } from '@radix-ui/themes'
import { Link } from 'wouter'
import { Section } from '../../kit/page.tsx'
import { plain, safeLink } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { useAsk, useCommand } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'
import type { Detail } from './actions.ts'

type Kept = Detail['processes'][number]
const KINDS = {
  preview: { title: 'Preview', about: 'Runs the preview command in the worktree of the mission.' },
  remote: { title: 'Remote control', about: "Lets you continue it from the agent's own app on another device." },
}

/** The side processes of a mission, and how to continue it by hand. */
export function Hands({ mission }: { mission: Detail }) {
  const ran = mission.session_id !== null
  const newest = mission.sessions.find(({ id }) => id === mission.session_id)
  const agents = useAsk('list_agents', {}).data?.agents
  const can = agents?.find(({ name, engine }) => name === newest?.agent && engine === newest.engine)?.can
  if (!ran)
    return (
      <Text as="p" size="2" color="gray">
        Once an agent has worked on it, you can preview the work here, or continue it from another device.
      </Text>
    )
  return (
    <>
      <Process mission={mission} kind="preview" />
      {can?.remoteControl === true && <Process mission={mission} kind="remote" />}
    </>
  )
}

function Process({ mission, kind }: { mission: Detail; kind: Kept['kind'] }) {
  const preview = { start: useCommand('start_preview'), stop: useCommand('stop_preview') }
  const remote = { start: useCommand('start_remote_control'), stop: useCommand('stop_remote_control') }
  const mayRun = useMay('previews.run', mission.project_id)
  const { start, stop } = kind === 'preview' ? preview : remote
  const found = mission.processes.find(process => process.kind === kind)
  const runs = found && found.status !== 'ended'
  const link = safeLink(found?.url)
  const it = { mission_id: mission.id }
  return (
    <Section
      title={KINDS[kind].title}
      actions={
        !mayRun ? undefined : runs ? (
          <Button size="1" variant="soft" color="red" highContrast loading={stop.busy} onClick={() => stop.run(it)}>
            Stop
          </Button>
        ) : (
          <Button size="1" loading={start.busy} onClick={() => start.run(it)}>
            Start
          </Button>
        )
      }
    >
      {found ? (
        <Card size="1">
          <Flex gap="2" align="center" wrap="wrap">
            <Badge color={found.status === 'up' ? 'green' : 'gray'} highContrast>
              {found.ending ? 'ending' : found.status}
            </Badge>
            {link && found.status === 'up' && (
              <a href={link} target="_blank" rel="noreferrer noopener">
                {link}
              </a>
            )}
            {found.command && <Code variant="ghost">{plain(found.command)}</Code>}
            {found.reason && <Text size="2">{plain(found.reason)}</Text>}
            <Text size="1" color="gray">
              <Time at={found.ended_at ?? found.created_at} />
              {runs && found.until && (
                <>
                  {' '}
                  · ends automatically <Time at={found.until} />
                </>
              )}
            </Text>
          </Flex>
        </Card>
      ) : (
        <Text as="p" size="2" color="gray" mt="0">
          {KINDS[kind].about}{' '}
          {kind === 'preview' && !mission.preview_command && (
            <>
              The command is set in the <Link href={`/projects/${mission.project_id}`}>project</Link> or in the settings
              of the mission.
            </>
          )}
        </Text>
      )}
    </Section>
  )
}
