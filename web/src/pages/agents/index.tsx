import { Badge, Button, Callout, Card, Flex, Grid, Text } from '@radix-ui/themes'
import { Bot, RefreshCw, TriangleAlert } from 'lucide-react'
import type { Output } from '../../api/client.ts'
import { Facts } from '../../kit/facts.tsx'
import { Answer, Empty, Page, Section } from '../../kit/page.tsx'
import { ProviderWindow } from '../../kit/provider-window.tsx'
import { Time } from '../../kit/time.tsx'
import { tell } from '../../kit/toasts.tsx'
import { useAsk, useCommand } from '../../live/data.ts'
import './agents.css'

type Agent = Output<'list_agents'>['agents'][number]

const driven = ({ name, engine }: Agent): string => `${name}${engine === 'sdk' ? ' (sdk)' : ''}`

export default function Agents() {
  const agents = useAsk('list_agents', {})
  const refresh = useCommand('refresh_models', {
    affects: ['list_agents', 'list_models'],
    done: () => tell({ text: 'Models were refreshed.' }),
  })
  return (
    <Page
      title="Agents"
      about="The coding agents on this machine, and what each can do"
      actions={
        <Button variant="soft" color="gray" highContrast loading={refresh.busy} onClick={() => refresh.run({})}>
          <RefreshCw size={16} /> Refresh models
        </Button>
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
                <AgentCard key={driven(agent)} agent={agent} />
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
  const { title, installed, version, path, signed_in, advice, models, models_asked_at, windows } = agent
  return (
    <Card>
      <Flex direction="column" gap="3">
        <Flex justify="between" align="center" gap="2">
          <Text weight="medium">
            {title}
            {agent.engine === 'sdk' && ' (SDK)'}
          </Text>
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
            'Signed in': signed_in === undefined ? undefined : signed_in ? 'yes' : 'no',
            Models: models.length ? models.map(model => model.alias ?? model.name).join(', ') : undefined,
            Asked: models_asked_at && <Time at={models_asked_at} />,
          }}
        />
        {windows.map(window => (
          <ProviderWindow key={window.name} window={window} />
        ))}
        {advice && (
          <Text size="2" color="gray">
            {advice}
          </Text>
        )}
      </Flex>
    </Card>
  )
}

function Capabilities({ agents }: { agents: Agent[] }) {
  const names = [...new Set(agents.flatMap(agent => Object.keys(agent.can)))]
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls on a small screen, also by keyboard
    <section className="capabilities" aria-label="Capabilities" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Can</th>
            {agents.map(agent => (
              <th key={driven(agent)} scope="col">
                {driven(agent)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {names.map(name => (
            <tr key={name}>
              <th scope="row">{words(name)}</th>
              {agents.map(agent => (
                <td key={driven(agent)}>{shown(agent.can[name])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const words = (name: string): string =>
  name.replace(/_/g, ' ').replace(/([a-z])([A-Z])/g, (_, a, b) => `${a} ${b.toLowerCase()}`)

function shown(value: unknown): string {
  if (value === true) return 'yes'
  if (value === false || value === undefined || value === null) return '–'
  if (Array.isArray(value)) return value.join(', ') || '–'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
