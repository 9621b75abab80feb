import type { Command } from 'commander'
import { shortId } from '../../domain/ids.ts'
import type { ProviderWindow } from '../../domain/records/fleet.ts'
import { drivenName, type Engine, TOOL_PRESETS } from '../../domain/records/project.ts'
import { type Cli, does } from '../command.ts'
import { windowsInWords } from '../show.ts'

export function addAgents(program: Command): void {
  const agents = program
    .command('agents')
    .description('list the coding agents on this machine and what each can do')
    .option('--refresh', 'ask the clients for their models again')
    .option('--long', 'show also which presets each can enforce, and whether it survives a restart of the server')
  does(agents, showAgents)

  const costs = program
    .command('costs')
    .description('show tokens and cost by day, project and agent')
    .option('--days <n>', 'number of days to show', Number, 7)
  does(costs, showCosts)
}

interface Spent {
  day: string
  project_id: string
  agent: string
  model: string | null
  sessions: number
  input_tokens: number
  output_tokens: number
  reasoning_tokens: number
  cache_read_tokens: number
  cost_usd: number
}

async function showCosts(cli: Cli, _args: string[], options: Record<string, unknown>): Promise<undefined> {
  const { terminal } = cli
  const client = await cli.client()
  const answer = await client.call<{ spending: Spent[] }>('list_spending', { days: options.days })
  if (terminal.json) return void terminal.data(answer)
  if (answer.spending.length === 0) return void terminal.print('No usage in this period.')
  const { projects } = await client.call<{ projects: { id: string; name: string }[] }>('list_projects', { limit: 500 })
  const names = new Map(projects.map(({ id, name }) => [id, name]))
  terminal.table(
    [
      { title: 'DAY', value: row => row.day },
      {
        title: 'PROJECT',
        value: row => terminal.foreign(names.get(row.project_id) ?? shortId(row.project_id)),
        flexible: true,
      },
      { title: 'AGENT', value: row => terminal.foreign(row.agent) },
      { title: 'MODEL', value: row => terminal.foreign(row.model ?? ''), flexible: true },
      { title: 'SESSIONS', value: row => String(row.sessions), right: true, extra: true },
      { title: 'IN', value: row => String(row.input_tokens + row.cache_read_tokens), right: true },
      { title: 'OUT', value: row => String(row.output_tokens), right: true },
      { title: 'THOUGHT', value: row => String(row.reasoning_tokens), right: true, extra: true },
      { title: 'COST', value: row => `$${row.cost_usd.toFixed(2)}`, right: true },
    ],
    answer.spending,
  )
  const total = answer.spending.reduce((sum, row) => sum + row.cost_usd, 0)
  terminal.print(`Total: $${total.toFixed(2)}. Models without a price are counted in tokens only.`)
}

interface Agents {
  agents: {
    name: string
    engine: Engine
    title: string
    installed: boolean
    version?: string
    signed_in?: boolean
    advice?: string
    plugin?: string
    models: unknown[]
    can: Record<string, unknown> & { presets: string[]; sandboxed: string[] }
    windows: ProviderWindow[]
  }[]
  sandbox: { works: boolean; problem?: string; advice?: string }
}

async function showAgents(cli: Cli, _: string[], { refresh, long }: Record<string, unknown>): Promise<undefined> {
  const { terminal } = cli
  if (refresh) {
    terminal.progress('Asking the clients for their models…')
    await cli.ask('refresh_models', {})
    terminal.progress('')
  }
  const answer = await cli.ask<Agents>('list_agents', {})
  if (terminal.json) return void terminal.data(answer)
  terminal.table<Agents['agents'][number]>(
    [
      { title: 'AGENT', value: agentName },
      { title: '', value: each => each.title, flexible: true },
      {
        title: 'FOUND',
        value: each => (each.installed ? (each.version ?? 'yes') : 'no'),
        paint: (text, each) => terminal.paint(each.installed ? 'green' : 'dim', text),
      },
      { title: 'SIGNED IN', value: each => (each.signed_in === undefined ? '' : each.signed_in ? 'yes' : 'no') },
      { title: 'MODELS', value: each => String(each.models.length || ''), right: true, extra: true },
      { title: 'RESUMES', value: each => (each.can.resume ? 'yes' : 'no'), extra: true },
      {
        title: 'MCP',
        value: each => (each.can.mcp === 'stdio' ? 'through a bridge' : String(each.can.mcp)),
        extra: true,
      },
    ],
    answer.agents,
  )
  if (long) tellLimits(cli, answer)
  const { works, problem, advice: mending } = answer.sandbox
  if (!works) terminal.note(`sandbox: ${problem} ${mending}`)
  const now = new Date().toISOString()
  for (const each of answer.agents) {
    const used = windowsInWords(each.windows, now).join(', ')
    const origin =
      each.plugin &&
      `code of the plugin ${each.plugin}, which is trusted: it runs as you, and the fleet believes what it reports`
    for (const note of [each.advice, origin, used])
      if (note) terminal.note(terminal.foreign(`${agentName(each)}: ${note}`))
  }
}

/** What each agent is held to, and what becomes of it when the server restarts. */
function tellLimits({ terminal }: Cli, { agents, sandbox }: Agents): void {
  for (const each of agents) {
    terminal.print()
    terminal.print(terminal.paint('bold', agentName(each)))
    terminal.facts([
      ['presets', presets(each.can.presets)],
      ['presets in the sandbox', sandbox.works ? presets(each.can.sandboxed) : 'no sandbox'],
      ['survives a restart', each.can.adopted ? 'yes' : 'no: it is resumed'],
      ['images', each.can.images ? 'yes' : 'no'],
    ])
  }
}

const agentName = ({ name, engine }: Agents['agents'][number]): string => drivenName(name, engine)

const presets = (names: readonly string[]): string =>
  names.length === TOOL_PRESETS.length ? 'every preset' : names.join(' ') || 'none'
