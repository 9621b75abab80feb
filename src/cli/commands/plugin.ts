import type { Command } from 'commander'
import { type Cli, does } from '../command.ts'

interface PluginView {
  name: string
  origin: 'shipped' | 'home' | 'configured'
  enabled: boolean
  running: boolean
  reason: string | null
  faults: number
  last_fault: { at: string; text: string } | null
  description: string
  hooks: string[]
  tools: { name: string; summary: string }[]
  agents: { name: string; kind: 'acp' | 'custom' | 'code' }[]
}

const PLUGIN = '<plugin>'

export function addPlugin(program: Command): void {
  const plugin = program.command('plugin').description('manage plugins: hooks, tools and agents')

  const list = plugin.command('list').alias('ls').description('list plugins with what each offers and its errors')
  does(list, async (cli, _) => show(cli, await cli.ask<{ plugins: PluginView[] }>('list_plugins', {})))

  const reload = plugin
    .command('reload')
    .description('reload one plugin, or all enabled ones')
    .argument('[plugin]', 'name')
  does(reload, async (cli, [name]) =>
    show(cli, await cli.ask<{ plugins: PluginView[] }>('reload_plugins', { plugin: name })),
  )

  for (const [verb, summary] of [
    ['enable', 'enable a plugin, also one that the fleet disabled'],
    ['disable', 'disable a plugin, also after a restart'],
  ] as const) {
    does(plugin.command(verb).description(summary).argument(PLUGIN, 'name'), async (cli, [name]) => {
      const changed = await cli.ask<PluginView>(`${verb}_plugin`, { plugin: name })
      if (cli.terminal.json) return void cli.terminal.data(changed)
      describe(cli, changed)
      return verb === 'enable' && !changed.enabled ? 1 : 0
    })
  }
}

async function show(cli: Cli, answer: { plugins: PluginView[] }): Promise<undefined> {
  if (cli.terminal.json) return void cli.terminal.data(answer)
  for (const each of answer.plugins) describe(cli, each)
}

const ORIGINS = { shipped: 'built in', home: 'in your plugins folder', configured: 'named in the settings' }

function describe({ terminal }: Cli, each: PluginView): void {
  const state = each.running ? 'running' : each.enabled ? 'on, starts with the server' : 'off'
  terminal.print(`${terminal.paint('bold', each.name)}  ${ORIGINS[each.origin]}, ${state}`)
  if (each.description) terminal.note(`  ${terminal.foreign(each.description)}`)
  if (each.reason) terminal.note(`  ${terminal.foreign(`switched off: ${each.reason}`)}`)
  const offers = [...each.hooks, ...each.tools.map(tool => `${each.name}.${tool.name}`)]
  if (offers.length) terminal.note(`  ${terminal.foreign(offers.join(', '))}`)
  const agents = each.agents.map(({ name, kind }) => (kind === 'code' ? `${name} (its own code)` : name))
  if (agents.length) terminal.note(`  ${terminal.foreign(`agents, trusted to run as you: ${agents.join(', ')}`)}`)
  if (each.last_fault)
    terminal.note(
      `  ${terminal.foreign(`${each.faults} faults, last at ${each.last_fault.at}: ${each.last_fault.text}`)}`,
    )
}
