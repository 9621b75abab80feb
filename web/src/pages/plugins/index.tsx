import { Badge, Button, Callout, Card, Code, Flex, Grid, Switch, Text } from '@radix-ui/themes'
import { Blocks, RefreshCw, SlidersHorizontal } from 'lucide-react'
import { useState } from 'react'
import type { Output } from '../../api/client.ts'
import { Facts } from '../../kit/facts.tsx'
import { May } from '../../kit/may.tsx'
import { Answer, Empty, Page } from '../../kit/page.tsx'
import { Time } from '../../kit/time.tsx'
import { tell } from '../../kit/toasts.tsx'
import { plural } from '../../kit/words.ts'
import { useAsk, useCommand } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'
import { PluginSettings } from './settings.tsx'

type Plugin = Output<'list_plugins'>['plugins'][number]

const AFFECTED = ['list_plugins', 'list_agents'] as const
const ORIGINS = { shipped: 'Built in', home: 'Your plugins folder', configured: 'Named in the settings' }

const HOOKS: Record<Plugin['hooks'][number], string> = {
  pre_dispatch: 'decides before a mission starts',
  pre_plan: 'decides before a plan starts',
  pre_land: 'decides before work lands',
  post_complete: 'is told when a mission is done',
  post_fail: 'is told when a mission fails',
  post_plan: 'is told about plans',
  on_question: 'is told when an agent asks',
  on_event: 'is told about every event',
}
/** A plugin that is off has not been loaded, so it cannot say it itself. */
const ABOUT: Record<string, string> = {
  desktop: 'Shows notifications on your desktop.',
  webhook: 'Sends signed events to your own address, with retries.',
  slack: 'Posts to a Slack channel, through your incoming webhook.',
  telegram: 'Tells Telegram chats what happens, and takes answers from them.',
  github: 'Makes a mission from every GitHub issue with a label, and reports the result there.',
}
const AGENT_KINDS = { acp: 'ACP client', custom: 'declared', code: 'own code' }

export default function Plugins() {
  const plugins = useAsk('list_plugins', {})
  const reload = useCommand('reload_plugins', {
    affects: AFFECTED,
    done: () => tell({ text: 'Plugins reloaded.' }),
  })
  return (
    <Page
      title="Plugins"
      about="Extensions that decide or are told when something happens, and add agents and tools"
      actions={
        <May use="reload_plugins">
          <Button variant="soft" color="gray" highContrast loading={reload.busy} onClick={() => reload.run({})}>
            <RefreshCw size={16} /> Reload
          </Button>
        </May>
      }
    >
      <Answer of={plugins}>
        {({ plugins: list }) =>
          list.length === 0 ? (
            <Empty icon={Blocks} title="No plugins">
              A plugin is a TypeScript or JavaScript file in the plugins folder of your home.
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
  const state = running ? 'On' : enabled ? 'Not running' : reason ? 'Turned off by Flotilla' : 'Off'
  const enable = useCommand('enable_plugin', { affects: AFFECTED })
  const disable = useCommand('disable_plugin', { affects: AFFECTED })
  const [configuring, setConfiguring] = useState<'settings' | 'turning on'>()
  const lacks = plugin.settings.some(({ required, is_set }) => required && !is_set)
  const turn = (on: boolean) => {
    // It would be turned off again at once.
    if (on && lacks) setConfiguring('turning on')
    else (on ? enable : disable).run({ plugin: name })
  }
  const mayManage = useMay('enable_plugin')
  return (
    <Card>
      <Flex direction="column" gap="3">
        <Flex justify="between" align="center" gap="3">
          <Flex gap="2" align="center" minWidth="0">
            <Text weight="medium" truncate>
              {name}
            </Text>
            <Badge color={running ? 'green' : enabled ? 'red' : 'gray'} highContrast>
              {state}
            </Badge>
          </Flex>
          <Switch
            aria-label={`${name} on`}
            checked={enabled}
            disabled={!mayManage || enable.busy || disable.busy}
            onCheckedChange={turn}
          />
        </Flex>
        <Text size="2">{description || ABOUT[name] || 'Turn it on to see what it does.'}</Text>
        {(reason || last_fault) && (
          <Callout.Root color="red" size="1" highContrast>
            <Callout.Text>
              {reason ?? `It failed ${plural(faults, 'time')}. The last time: ${last_fault?.text}`}{' '}
              {last_fault && <Time at={last_fault.at} />}
            </Callout.Text>
          </Callout.Root>
        )}
        <Facts
          of={{
            Source: ORIGINS[origin],
            File: file && (
              <Code size="1" variant="ghost" className="break">
                {file}
              </Code>
            ),
            'What it does': hooks.map(hook => HOOKS[hook]).join('; '),
            Tools: tools.map(tool => `${tool.name}: ${tool.summary}`).join('; '),
            Agents: agents.map(agent => `${agent.name} (${AGENT_KINDS[agent.kind]})`).join(', '),
          }}
        />
        {plugin.settings.length > 0 && (
          <div>
            <Button
              size="1"
              variant="soft"
              color="gray"
              highContrast
              aria-label={`Settings of ${name}`}
              onClick={() => setConfiguring('settings')}
            >
              <SlidersHorizontal size={14} /> Settings
            </Button>
          </div>
        )}
      </Flex>
      {configuring && (
        <PluginSettings
          plugin={plugin}
          turnsOn={configuring === 'turning on'}
          close={() => setConfiguring(undefined)}
          saved={() => configuring === 'turning on' && enable.run({ plugin: name })}
        />
      )}
    </Card>
  )
}
