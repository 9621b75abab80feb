import { Badge, Flex, Text } from '@radix-ui/themes'
import { CircleCheck, CircleDashed } from 'lucide-react'
import { Link } from 'wouter'
import type { Output } from '../../api/client.ts'
import { CopyBox } from '../../kit/copy.tsx'
import { Answer, Lines } from '../../kit/page.tsx'
import { useAsk } from '../../live/data.ts'

type Agent = Output<'list_agents'>['agents'][number]

/** The coding agents that are here, and how to get the others. */
export function AgentsHere() {
  const agents = useAsk('list_agents', {})
  return (
    <Answer of={agents} loading={<Lines rows={3} height={28} />}>
      {({ agents: list }) => {
        const coding = oneEach(list).filter(({ can }) => !can.scripts)
        const usable = coding.filter(({ installed, signed_in }) => installed && signed_in !== false)
        const others = coding.filter(agent => !usable.includes(agent) && agent.command)
        return (
          <>
            <ul className="agents-here">
              {coding
                .filter(({ installed }) => installed)
                .map(agent => (
                  <Here key={agent.name} agent={agent} />
                ))}
            </ul>
            {usable.length === 0 && (
              <Text as="p" size="2">
                No coding agent is ready. Set one up now, or start without: <strong>Run a script</strong> (
                <code>shell</code>) needs no account.
              </Text>
            )}
            {others.length > 0 && (
              <details className="fold" open={usable.length === 0}>
                <summary>
                  <Text size="2">{usable.length ? 'Set up another agent' : 'Set up an agent'}</Text>
                </summary>
                <Flex direction="column" gap="3" mt="2">
                  {others.map(agent => (
                    <div key={agent.name}>
                      <Text as="div" size="2" mb="1">
                        {agent.installed ? `Sign in to ${agent.title}` : `Install ${agent.title}`}
                      </Text>
                      <CopyBox text={agent.command!} label={`the command for ${agent.title}`} />
                    </div>
                  ))}
                </Flex>
              </details>
            )}
            <Text as="p" size="1" color="gray" mb="0">
              <Link href="/agents">All agents</Link> shows what each can do.
            </Text>
          </>
        )
      }}
    </Answer>
  )
}

/** An agent that can be driven in several ways is listed once, as it is installed. */
export const oneEach = (agents: readonly Agent[]): Agent[] =>
  [...Map.groupBy(agents, ({ name }) => name).values()].map(ways => ways.find(each => each.installed) ?? ways[0]!)

function Here({ agent: { title, version, signed_in } }: { agent: Agent }) {
  const isReady = signed_in !== false
  return (
    <li className="agent-here">
      {isReady ? <CircleCheck size={16} aria-hidden className="all-well" /> : <CircleDashed size={16} aria-hidden />}
      <Text size="2" weight="medium">
        {title}
      </Text>
      {version && (
        <Text size="1" color="gray">
          {version}
        </Text>
      )}
      <Badge color={isReady ? 'green' : 'amber'} highContrast>
        {signed_in === undefined ? 'Installed' : isReady ? 'Signed in' : 'Not signed in'}
      </Badge>
    </li>
  )
}
