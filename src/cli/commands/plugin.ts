import type { Command } from 'commander'
import { type Cli, does } from '../command.ts'

interface PluginView {
  name: string
  origin: string
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
  const plugin = program.command('plugin').description('what others added to the fleet: hooks, tools and agents')

  const list = plugin
    .command('list')
    .alias('ls')
    .description('list plugins, what each offers, and what went wrong with it')
  does(list, async (cli, _) => show(cli, await ask(cli, 'list_plugins', {})))

  const reload = plugin
    .command('reload')
    .description('read plugins and their settings anew: one, or all that are switched on')
    .argument('[plugin]', 'its name')
  does(reload, async (cli, [name]) => show(cli, await ask(cli, 'reload_plugins', { plugin: name })))

  for (const [verb, summary] of [
    ['enable', 'switch it on, also one that the fleet switched off'],
    ['disable', 'switch it off, also for every later start'],
  ] as const) {
    does(plugin.command(verb).description(summary).argument(PLUGIN, 'its name'), async (cli, [name]) => {
      const changed = await (await cli.client()).call<PluginView>(`${verb}_plugin`, { plugin: name })
      if (cli.terminal.json) return void cli.terminal.data(changed)
      describe(cli, changed)
      return verb === 'enable' && !changed.enabled ? 1 : 0
    })
  }
}

const ask = async (cli: Cli, operation: string, input: object): Promise<{ plugins: PluginView[] }> =>
  (await cli.client()).call(operation, input)

async function show(cli: Cli, answer: { plugins: PluginView[] }): Promise<undefined> {
  if (cli.terminal.json) return void cli.terminal.data(answer)
  for (const each of answer.plugins) describe(cli, each)
}

function describe({ terminal }: Cli, each: PluginView): void {
  const state = each.running ? 'at work' : each.enabled ? 'on, once a server runs' : 'off'
  terminal.print(`${terminal.paint('bold', each.name)}  ${each.origin}, ${state}`)
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
