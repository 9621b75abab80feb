import { join } from 'node:path'
import { type Agents, agentsOf } from '../agents/index.ts'
import { PLUGIN_AGENTS_FILE, PluginAgents } from '../plugins/adapters.ts'

/** The agents of a home: built in, declared in it, and brought by its plugins. */
export function agentsFor(home: string): { agents: Agents; pluginAgents: PluginAgents } {
  const pluginAgents = new PluginAgents(join(home, PLUGIN_AGENTS_FILE))
  return { agents: agentsOf(home, () => pluginAgents.all), pluginAgents }
}
