import { Forbidden } from '../../domain/errors.ts'
import type { Fleet } from '../../fleet/fleet.ts'
import type { PluginTool } from '../../fleet/plugins/running.ts'
import { askOf } from '../../operations/ask.ts'
import { isPrincipal, mayUse } from '../../operations/authorize.ts'
import { operationNamed } from '../../operations/index.ts'
import type { Caller } from '../../operations/operation.ts'
import { DEFAULT_SETS, TOOL_SETS, type ToolSet } from '../../operations/tool-sets.ts'
import { TOOLS, type ToolDefinition } from '../../operations/tools.ts'
import type { Endpoint } from './http.ts'
import { type Offer, type Tool, tool } from './offer.ts'
import { outsidePrompts } from './prompts.ts'
import { outsideResources } from './resources.ts'
import { setsIn, toolFrom } from './sets.ts'

const SETS = Object.keys(TOOL_SETS) as ToolSet[]

const INSTRUCTIONS = `Flotilla runs coding agents on git repositories. A mission is one piece of work: an agent does it in a worktree of its own, it is checked, and what is good lands on the base branch. Make a project for a repository (create_project), describe missions with everything the agent needs to know (create_mission; depends_on puts them in order), send agents (dispatch_mission or auto_dispatch), then wait_for_mission and get_report. An answer "running" means: call wait_for_mission again. A worker is a mission made and sent in one step whose work stays on its branch.`

/** Everything that the fleet offers, for clients with a token of the owner, a person or a service. */
export function outside(fleet: Fleet, definitions = TOOLS): Endpoint {
  const tools = definitions.map(({ set, operation }, index) => ({
    ...{ set, operation },
    tool: toolFrom(fleet, definitions[index]!),
  }))
  const resources = outsideResources(askOf(fleet))
  const prompts = outsidePrompts(askOf(fleet))
  const askAs = (caller: Caller) => askOf(fleet, { caller, signal: new AbortController().signal })
  return {
    path: '/mcp',
    legacySse: true,
    offer(caller, request): Offer {
      if (caller.kind === 'session')
        throw new Forbidden('The token of a session does not open this.', { try: 'Sessions have tools of their own.' })
      const sets = setsIn(request, SETS, isOfTeam(caller) ? [...DEFAULT_SETS, 'teams'] : DEFAULT_SETS)
      return {
        name: 'flotilla',
        instructions: INSTRUCTIONS,
        tools: [
          ...tools
            .filter(
              each =>
                sets.includes(each.set as ToolSet) &&
                (isFor(caller, each) || (each.set === 'teams' && isOfTeam(caller))),
            )
            .map(({ tool }) => tool),
          ...(sets.includes('plugins') && mayUse(CALLS_PLUGINS, caller) ? pluginTools(fleet) : []),
        ],
        // The resources of a person or service are what they may see.
        resources: isPrincipal(caller) ? outsideResources(askAs(caller)) : resources,
        prompts: isPrincipal(caller) ? outsidePrompts(askAs(caller)) : prompts,
      }
    },
  }
}

/** Tools that a caller may never use are not offered. An alias is decided call by call. */
const isFor = (caller: Caller, { operation }: Pick<ToolDefinition, 'operation'>): boolean =>
  !operation || mayUse(operation, caller)

/** Whoever has a token for a team is told in words what its role may not do there. */
const isOfTeam = (caller: Caller): boolean => 'team' in caller && caller.team !== undefined

const CALLS_PLUGINS = operationNamed('call_plugin_tool')!

const offered = new WeakMap<PluginTool, Tool>()

/** The tools of plugins that run now. Clients refuse two tools of one name, so a name that is taken is changed. */
function pluginTools(fleet: Fleet): Tool[] {
  const taken = new Set<string>(TOOLS.map(({ name }) => name))
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
