import * as z from 'zod'
import { InvalidInput, NotFound, Unreachable } from '../domain/errors.ts'
import { PluginName, PluginRecord } from '../domain/records/plugin.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { notePlugin, recordOf, sourcesOf, switchPlugin } from '../fleet/plugins/records.ts'
import { fieldsOf, filledIn, savePluginSettings } from '../fleet/plugins/settings.ts'
import { HOOKS } from '../plugins/contract.ts'
import { PluginField } from '../plugins/fields.ts'
import { type Source, settingsOf } from '../plugins/finding.ts'
import { isPrincipal, reachFor } from './authorize.ts'
import { actorOf } from './inputs.ts'
import { type Context, command, query } from './operation.ts'
import { requirePerson } from './person.ts'
import { jsonSchema, parseInput } from './shape.ts'

const Value = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])

const PluginView = PluginRecord.omit({ id: true, cursor: true, updated_at: true }).extend({
  name: PluginName,
  origin: z.enum(['shipped', 'home', 'configured']),
  file: z.string().nullable(),
  running: z.boolean().describe('loaded in the server that answers'),
  description: z.string(),
  hooks: z.array(z.enum(HOOKS)),
  tools: z.array(
    z.object({
      name: z.string(),
      summary: z.string(),
      read_only: z.boolean(),
      input: z.record(z.string(), z.unknown()),
    }),
  ),
  agents: z
    .array(z.object({ name: z.string(), kind: z.enum(['acp', 'custom', 'code']) }))
    .describe('trusted: what they start runs as you; code also says what a session did'),
  settings: z
    .array(PluginField.extend({ value: Value.nullable().describe('empty for a secret'), is_set: z.boolean() }))
    .describe('what configure_plugin can set'),
  settings_problem: z.string().nullable().describe('why its settings cannot be read'),
})
type PluginView = z.infer<typeof PluginView>

async function view(fleet: Fleet, source: Source): Promise<PluginView> {
  const { id, cursor, updated_at, ...record } = await recordOf(fleet, source)
  const seat = fleet.plugins.host?.seat(source.name)
  return {
    ...record,
    name: source.name,
    origin: source.origin,
    file: source.file ?? null,
    running: seat?.thread?.isOver === false,
    description: seat?.manifest?.description ?? '',
    hooks: seat?.manifest?.hooks ?? [],
    tools: (seat?.tools ?? []).map(({ plugin, input, ...tool }) => ({ ...tool, input: jsonSchema(input, 'input') })),
    agents: (seat?.manifest?.agents ?? []).map(({ name, kind }) => ({ name, kind })),
    ...(seat && { faults: seat.faults, last_fault: seat.last }),
    ...settingsView(fleet, source),
  }
}

/** Settings name people and places, and what a plugin says of a failure may name any work. */
const forOthers = (plugin: PluginView): PluginView => ({
  ...plugin,
  ...{ file: null, settings: [], settings_problem: null, last_fault: null },
  reason: plugin.reason && 'The fleet switched it off.',
})

function settingsView(fleet: Fleet, source: Source): Pick<PluginView, 'settings' | 'settings_problem'> {
  const fields = fieldsOf(fleet, source)
  try {
    return { settings: filledIn(fields, settingsOf(fleet.home.path, source.name)), settings_problem: null }
  } catch (error) {
    return { settings: filledIn(fields, {}), settings_problem: error instanceof Error ? error.message : String(error) }
  }
}

function found(fleet: Fleet, name: string): Source {
  const source = sourcesOf(fleet).find(each => each.name === name)
  if (!source) throw new NotFound('plugin', name, { try: 'fleet plugin list' })
  return source
}

const WithPlugin = z.object({ plugin: PluginName })

export const plugins = [
  query({
    name: 'list_plugins',
    may: 'system.read',
    mcp: 'system',
    summary: 'List the plugins, what each offers, and what went wrong with it',
    http: 'GET /api/plugins',
    inServer: true,
    input: z.object({}),
    output: z.object({ plugins: z.array(PluginView) }),
    run: async ({ fleet, caller }) => {
      const plugins = await Promise.all(sourcesOf(fleet).map(source => view(fleet, source)))
      const managesPlugins = !isPrincipal(caller) || reachFor(caller, 'plugins.manage') === 'fleet'
      return { plugins: managesPlugins ? plugins : plugins.map(forOthers) }
    },
  }),
  switching('enable_plugin', 'Enable a plugin, also one the fleet disabled; it is loaded again', true),
  switching('disable_plugin', 'Disable a plugin, also for later starts', false),
  command({
    name: 'reload_plugins',
    may: 'plugins.manage',
    mcp: 'system',
    summary: 'Reload plugins and their settings: one, or all that are enabled',
    http: 'POST /api/plugins/reload',
    inServer: true,
    input: z.object({ plugin: PluginName.optional() }),
    output: z.object({ plugins: z.array(PluginView) }),
    run: async (context, { plugin }) => {
      const { fleet } = context
      const sources = plugin ? [found(fleet, plugin)] : sourcesOf(fleet)
      if (!plugin) await fleet.plugins.host?.keepOnly(sources)
      for (const source of sources) {
        const { enabled, reason } = await recordOf(fleet, source)
        // A person who reloads a plugin that the fleet had disabled wants to use it.
        if (enabled) await fleet.plugins.host?.open(source)
        else if (plugin && reason) await turn(context, source, true)
      }
      return { plugins: await Promise.all(sources.map(source => view(fleet, source))) }
    },
  }),
  command({
    name: 'configure_plugin',
    may: 'plugins.manage',
    // The values may be secrets, and decide where news of the fleet goes. A person fills them in, not a model.
    mcp: false,
    summary: 'Change settings of a plugin, and load it again; secrets are stored and never shown',
    http: 'PUT /api/plugins/:plugin/settings',
    inServer: true,
    input: WithPlugin.extend({
      values: z
        .record(z.string().max(60), Value.nullable())
        .describe('by name; null removes one, and one that is not sent stays as it is'),
    }),
    output: PluginView,
    run: async (context, { plugin, values }) => {
      const { fleet, caller } = context
      requirePerson(caller, 'change the settings of a plugin')
      const source = found(fleet, plugin)
      savePluginSettings(fleet, source, values)
      await notePlugin(fleet, source, () => ({}), { kind: 'plugin_configured', actor: actorOf(context) })
      const { enabled, reason } = await recordOf(fleet, source)
      if (enabled) await fleet.plugins.host?.open(source)
      // Missing settings are the usual reason why the fleet switched it off.
      else if (reason) await turn(context, source, true)
      return view(fleet, source)
    },
  }),
  command({
    name: 'call_plugin_tool',
    may: 'plugins.manage',
    // MCP offers the tools of plugins directly.
    mcp: false,
    summary: 'Call a tool of a plugin',
    http: 'POST /api/plugins/:plugin/tools/:tool',
    inServer: true,
    input: WithPlugin.extend({
      tool: z.string().min(1).max(60),
      input: z.record(z.string(), z.unknown()).default({}).describe('as list_plugins says'),
    }),
    output: z.object({ result: z.unknown() }),
    run: async ({ fleet }, { plugin, tool, input }) => {
      found(fleet, plugin)
      const { host } = fleet.plugins
      if (!host)
        throw new Unreachable('Plugins run in the server, and no server is running.', { try: 'fleet up --detach' })
      const known = host.seat(plugin)?.tools.find(({ name }) => name === tool)
      return { result: await host.callTool(plugin, tool, known ? parseInput(known, input) : input) }
    },
  }),
]

async function turn(context: Context, source: Source, enabled: boolean): Promise<void> {
  const { fleet } = context
  await switchPlugin(fleet, source, enabled, { actor: actorOf(context) })
  if (enabled) await fleet.plugins.host?.open(source)
  else await fleet.plugins.host?.shut(source)
}

function switching(name: 'enable_plugin' | 'disable_plugin', summary: string, enabled: boolean) {
  return command({
    may: 'plugins.manage',
    mcp: 'system',
    name,
    summary,
    http: `POST /api/plugins/:plugin/${enabled ? 'enable' : 'disable'}`,
    inServer: true,
    input: WithPlugin,
    output: PluginView,
    run: async (context, { plugin }) => {
      const { caller, fleet } = context
      // A plugin that switches itself off would wait for its own end.
      if (caller.kind === 'owner' && caller.plugin === plugin)
        throw new InvalidInput('plugin', 'cannot switch itself on or off')
      const source = found(fleet, plugin)
      await turn(context, source, enabled)
      return view(fleet, source)
    },
  })
}
