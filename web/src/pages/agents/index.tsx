import { Badge, Button, Callout, Card, Flex, Grid, Text } from '@radix-ui/themes'
import { Bot, RefreshCw, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import type { Output } from '../../api/client.ts'
import { CopyBox } from '../../kit/copy.tsx'
import { Facts } from '../../kit/facts.tsx'
import { May } from '../../kit/may.tsx'
import { Answer, Empty, Page, Section } from '../../kit/page.tsx'
import { ProviderWindow } from '../../kit/provider-window.tsx'
import { Time } from '../../kit/time.tsx'
import { tell } from '../../kit/toasts.tsx'
import { useAsk, useCommand } from '../../live/data.ts'
import './agents.css'

type Agent = Output<'list_agents'>['agents'][number]

const keyOf = ({ name, engine }: Agent): string => `${name} ${engine}`

export default function Agents() {
  const agents = useAsk('list_agents', {})
  const refresh = useCommand('refresh_models', {
    affects: ['list_agents', 'list_models'],
    done: () => tell({ text: 'Models refreshed.' }),
  })
  return (
    <Page
      title="Agents"
      about="The coding agents on this machine, and what each can do"
      actions={
        <May use="refresh_models">
          <Button variant="soft" color="gray" highContrast loading={refresh.busy} onClick={() => refresh.run({})}>
            <RefreshCw size={16} /> Refresh models
          </Button>
        </May>
      }
    >
      <Answer of={agents}>
        {({ agents: list, problem, sandbox }) => (
          <>
            {problem && <Warning>{problem}</Warning>}
            {!sandbox.works && (
              <Warning>
                The sandbox does not work: {sandbox.problem} {sandbox.advice} Missions that need it to enforce a preset
                are refused.
              </Warning>
            )}
            {list.length === 0 && (
              <Empty icon={Bot} title="No agents">
                Install Claude Code, Codex, Gemini CLI or OpenCode, or declare one in <code>agents.json</code> of the
                home.
              </Empty>
            )}
            <Grid columns={{ initial: '1', sm: '2', lg: '3' }} gap="3" mb="5">
              {list.map(agent => (
                <AgentCard key={keyOf(agent)} agent={agent} />
              ))}
            </Grid>
            <Section title="Capabilities">
              <Capabilities agents={list} />
            </Section>
          </>
        )}
      </Answer>
    </Page>
  )
}

const Warning = ({ children }: { children: React.ReactNode }) => (
  <Callout.Root color="amber" highContrast mb="3">
    <Callout.Icon>
      <TriangleAlert size={16} />
    </Callout.Icon>
    <Callout.Text>{children}</Callout.Text>
  </Callout.Root>
)

function AgentCard({ agent }: { agent: Agent }) {
  const { name, engine, installed, version, path, signed_in, advice, command, models, models_asked_at, windows, can } =
    agent
  const test = useCommand('test_agent', { affects: ['list_agents'] })
  const [tested, setTested] = useState<Output<'test_agent'>>()
  return (
    <Card>
      <Flex direction="column" gap="3">
        <Flex justify="between" align="center" gap="2">
          <Text weight="medium">{agent.title}</Text>
          <Badge color={installed ? 'green' : 'gray'} highContrast>
            {installed ? 'Installed' : 'Not installed'}
          </Badge>
        </Flex>
        <Facts
          of={{
            Version: version,
            Program: path && (
              <Text size="1" className="break">
                {path}
              </Text>
            ),
            'Signed in':
              can.scripts || !installed
                ? undefined
                : signed_in === undefined
                  ? 'Not reported by the client'
                  : signed_in
                    ? 'Yes'
                    : 'No',
            Models: models.length ? models.map(model => model.alias ?? model.name).join(', ') : undefined,
            'Models listed': models_asked_at && <Time at={models_asked_at} />,
            Cost: COSTS[can.cost as keyof typeof COSTS],
          }}
        />
        {windows.map(window => (
          <ProviderWindow key={window.name} window={window} />
        ))}
        {advice && !(command && advice.includes(command)) && (
          <Text size="2" color="gray">
            {advice}
          </Text>
        )}
        {command && <CopyBox text={command} label={`the command for ${agent.title}`} />}
        <Flex gap="3" align="center" wrap="wrap">
          <May use="test_agent">
            <Button
              size="1"
              variant="soft"
              color="gray"
              highContrast
              loading={test.busy}
              aria-label={`Test ${agent.title}`}
              onClick={async () => setTested(await test.run({ agent: name, engine }))}
            >
              Test
            </Button>
          </May>
          <Text
            size="1"
            color={tested && !tested.works ? 'red' : 'gray'}
            highContrast={!!tested}
            role="status"
            className="break"
          >
            {tested?.text ?? 'Starts the client without calling a model. It costs nothing.'}
          </Text>
        </Flex>
      </Flex>
    </Card>
  )
}

const COSTS = {
  money: 'Reported by the client',
  priced: 'Computed from tokens and the price table',
  tokens: 'Tokens only, without a price',
  none: 'Not reported',
  free: 'Free',
}

/** What a capability is called, in the order in which people care. */
const CAPABILITIES: Record<string, string> = {
  presets: 'Tool presets it enforces',
  sandboxed: 'Tool presets the sandbox enforces',
  approvals: 'Asks for permission',
  questions: 'Asks questions',
  liveMessages: 'Takes messages while it works',
  interrupt: 'Can be interrupted',
  resume: 'Resumes a conversation',
  fork: 'Forks a conversation',
  images: 'Takes images',
  takeOver: 'Can be taken over',
  remoteControl: 'Remote control',
  adopted: 'Keeps running when the server restarts',
  budgetLimit: 'Keeps to a budget',
  turnLimit: 'Keeps to a turn limit',
  usage: 'Reports usage',
  contextWindow: 'Reports how full its context is',
  customTools: 'Custom tool lists',
  effort: 'Effort levels',
  mcp: 'MCP servers',
}
const VALUES: Record<string, string> = {
  'mid-turn': 'At once',
  'next-turn': 'After its turn',
  client: 'By the client',
  outside: 'By Flotilla',
  http: 'Over HTTP',
  stdio: 'As programs',
  no: 'No',
  'while working': 'While it works',
  'at the end': 'At the end',
  never: 'No',
}

function Capabilities({ agents }: { agents: Agent[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls on a small screen, also by keyboard
    <section className="capabilities" aria-label="Capabilities" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Capability</th>
            {agents.map(agent => (
              <th key={keyOf(agent)} scope="col">
                {agent.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {Object.entries(CAPABILITIES).map(([name, title]) => (
            <tr key={name}>
              <th scope="row">{title}</th>
              {agents.map(agent => (
                <td key={keyOf(agent)}>{shown(agent.can[name])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ') || 'None'
  if (typeof value === 'string') return VALUES[value] ?? value
  return value === true ? 'Yes' : 'No'
}
