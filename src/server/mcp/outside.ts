import type { FastifyRequest } from 'fastify'
import { Forbidden, InvalidInput } from '../../domain/errors.ts'
import type { Fleet } from '../../fleet/fleet.ts'
import type { PluginTool } from '../../fleet/plugins/host.ts'
import { ALIAS_SETS, ALIASES, type AliasSet } from '../../operations/aliases/index.ts'
import { askOf } from '../../operations/ask.ts'
import type { Endpoint } from './http.ts'
import { type Offer, type Tool, tool } from './offer.ts'
import { outsidePrompts } from './prompts.ts'
import { outsideResources } from './resources.ts'

const INSTRUCTIONS = `Flotilla runs coding agents on git repositories. A mission is one piece of work: an agent does it in a worktree of its own, it is checked, and what is good lands on the base branch. Make a project for a repository (create_project), describe missions with everything the agent needs to know (create_mission; depends_on puts them in order), send agents (dispatch_mission or auto_dispatch), then wait_for_mission and get_report. An answer "running" means: call wait_for_mission again. A worker is a mission made and sent in one step whose work stays on its branch.`

/** What clients outside the fleet may ask for: the whole of it, for whoever holds the owner's token. */
export function outside(fleet: Fleet): Endpoint {
  const tools = ALIASES.map(({ set, ...definition }) => ({ set, tool: toolOf(fleet, definition) }))
  const resources = outsideResources(askOf(fleet))
  const prompts = outsidePrompts(askOf(fleet))
  return {
    path: '/mcp',
    legacySse: true,
    offer(caller, request): Offer {
      if (caller.kind !== 'owner')
        throw new Forbidden('The token of a session does not open this.', { try: 'Sessions have tools of their own.' })
      const sets = setsIn(request)
      return {
        name: 'flotilla',
        instructions: INSTRUCTIONS,
        tools: [
          ...tools.filter(({ set }) => sets.includes(set)).map(({ tool }) => tool),
          ...(sets.includes('plugins') ? pluginTools(fleet) : []),
        ],
        resources,
        prompts,
      }
    },
  }
}

const toolOf = (fleet: Fleet, { run, ...definition }: Omit<(typeof ALIASES)[number], 'set'>): Tool =>
  tool({ ...definition, run: (caller, input, call) => run(askOf(fleet, { ...call, caller }), input) })

const offered = new WeakMap<PluginTool, Tool>()

/** The tools of plugins that are at work now. Clients refuse two of one name, so that a name that is taken is changed. */
function pluginTools(fleet: Fleet): Tool[] {
  const taken = new Set<string>(ALIASES.map(({ name }) => name))
  return (fleet.plugins.host?.tools ?? []).map(each => {
    let name = `${each.plugin}_${each.name}`.replace(/[^\w-]/g, '_')
    while (taken.has(name)) name = `plugin_${name}`
    taken.add(name)
    const known = offered.get(each)
    const made = known?.name === name ? known : pluginTool(fleet, name, each)
    offered.set(each, made)
    return made
  })
}

const pluginTool = (fleet: Fleet, name: string, { plugin, name: of, summary, input, read_only }: PluginTool): Tool =>
  tool({
    name,
    summary,
    input,
    readOnly: read_only,
    run: async (caller, given, call) => {
      const asked = { plugin, tool: of, input: given }
      return (await askOf(fleet, { ...call, caller })<{ result: unknown }>('call_plugin_tool', asked)).result
    },
  })

const TOOL_SETS = [...ALIAS_SETS, 'plugins'] as const
type ToolSet = AliasSet | 'plugins'

/** `?tools=missions,workers`; absent: all, as a client sees them in its context. */
function setsIn({ query }: FastifyRequest): readonly ToolSet[] {
  const { tools } = query as { tools?: string | string[] }
  if (tools === undefined) return TOOL_SETS
  const wanted = [tools]
    .flat()
    .flatMap(text => text.split(','))
    .filter(Boolean)
  const unknown = wanted.find(name => !TOOL_SETS.includes(name as ToolSet))
  if (unknown !== undefined || !wanted.length)
    throw new InvalidInput('tools', `there is no set ${JSON.stringify(unknown ?? '')}`, {
      try: `Name some of ${TOOL_SETS.join(', ')}, separated by commas.`,
    })
  return wanted as ToolSet[]
}
