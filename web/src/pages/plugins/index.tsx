import { Badge, Button, Callout, Card, Code, Flex, Grid, Switch, Text } from '@radix-ui/themes'
import { Blocks, RefreshCw } from 'lucide-react'
import type { Output } from '../../api/client.ts'
import { Facts } from '../../kit/facts.tsx'
import { Answer, Empty, Page } from '../../kit/page.tsx'
import { tell } from '../../kit/toasts.tsx'
import { plural } from '../../kit/words.ts'
import { useAsk, useCommand } from '../../live/data.ts'

type Plugin = Output<'list_plugins'>['plugins'][number]

const AFFECTED = ['list_plugins', 'list_agents'] as const
const ORIGINS = { shipped: 'shipped with the fleet', home: 'in the home', configured: 'named in fleet.toml' }

export default function Plugins() {
  const plugins = useAsk('list_plugins', {})
  const reload = useCommand('reload_plugins', {
    affects: AFFECTED,
    done: () => tell({ text: 'Reloaded all plugins.' }),
  })
  return (
    <Page
      title="Plugins"
      about="Extensions of the fleet. Each runs in its own thread, so that a failure stays there."
      actions={
        <Button variant="soft" color="gray" highContrast loading={reload.busy} onClick={() => reload.run({})}>
          <RefreshCw size={16} /> Reload all
        </Button>
      }
    >
      <Answer of={plugins}>
        {({ plugins: list }) =>
          list.length === 0 ? (
            <Empty icon={Blocks} title="No plugins">
              A plugin is a TypeScript or JavaScript file in the folder <code>plugins/</code> of the fleet’s home.
            </Empty>
          ) : (
            <Grid columns={{ initial: '1', sm: '2' }} gap="3">
              {list.map(plugin => (
                <PluginCard key={plugin.name} plugin={plugin} />
              ))}
            </Grid>
          )
        }
      </Answer>
    </Page>
  )
}

function PluginCard({ plugin }: { plugin: Plugin }) {
  const { name, enabled, running, description, origin, file, hooks, tools, agents, faults, last_fault, reason } = plugin
  const enable = useCommand('enable_plugin', { affects: AFFECTED })
  const disable = useCommand('disable_plugin', { affects: AFFECTED })
  return (
    <Card>
      <Flex direction="column" gap="3">
        <Flex justify="between" align="center" gap="3">
          <Flex gap="2" align="center" minWidth="0">
            <Text weight="medium" truncate>
              {name}
            </Text>
            <Badge color={running ? 'green' : 'gray'} highContrast>
              {running ? 'Running' : 'Off'}
            </Badge>
          </Flex>
          <Switch
            aria-label={`Enable ${name}`}
            checked={enabled}
            disabled={enable.busy || disable.busy}
            onCheckedChange={on => (on ? enable : disable).run({ plugin: name })}
          />
        </Flex>
        {description && <Text size="2">{description}</Text>}
        {(reason || last_fault) && (
          <Callout.Root color="red" size="1" highContrast>
            <Callout.Text>{reason ?? `${plural(faults, 'fault')}. Last: ${last_fault?.text}`}</Callout.Text>
          </Callout.Root>
        )}
        <Facts
          of={{
            From: ORIGINS[origin],
            File: file && (
              <Code size="1" variant="ghost" className="break">
                {file}
              </Code>
            ),
            Hooks: hooks.join(', '),
            Tools: tools.map(tool => tool.name).join(', '),
            Agents: agents.join(', '),
          }}
        />
      </Flex>
    </Card>
  )
}
