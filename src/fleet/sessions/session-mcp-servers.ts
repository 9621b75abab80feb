import { which } from '../../agents/detect.ts'
import type { Agent, McpServer } from '../../agents/index.ts'
import { isHttp, referencesIn } from '../../agents/mcp-servers.ts'
import { NotAllowed, Unfit } from '../../domain/errors.ts'
import { AGENT_MCP, CONTEXT_SERVER, OWN_SERVER, type ProjectServer } from '../../domain/records/mcp-server.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Fleet } from '../fleet.ts'

export interface Attached {
  servers: Record<string, McpServer>
  /** Names of environment variables that the servers' settings refer to. */
  variables: string[]
}

/** The MCP servers of a session: the fleet's own, the project's, and that of context mode if it is wanted. */
export async function attach(
  fleet: Fleet,
  agent: Agent,
  mission: Mission,
  project: Project,
  url: string,
): Promise<Attached> {
  if (agent.can.mcp === 'no') return refuseWithout(agent, mission)
  const chosen = Object.fromEntries(project.mcp_servers.filter(({ enabled }) => enabled).map(named))
  const context: Attached['servers'] = mission.context_mode ? { [CONTEXT_SERVER]: await contextServer(fleet) } : {}
  const far = agent.can.mcp === 'stdio' && Object.keys(chosen).find(name => isHttp(chosen[name]!))
  if (far)
    throw new NotAllowed(`${agent.title} only starts servers, and the MCP server ${far} is reached by HTTP.`, {
      try: `fleet mcp-server disable ${far} --project ${project.id}, or an agent that can: fleet agents`,
    })
  const variables = referencesIn(chosen)
  const missing = variables.find(name => !fleet.environment[name])
  if (missing) {
    const [name] = Object.entries(chosen).find(([, server]) => referencesIn({ server }).includes(missing))!
    throw new Unfit(`The MCP server ${name} needs the variable ${missing}, which the fleet was started without.`, {
      try: `Start the fleet with it, or fleet mcp-server disable ${name} --project ${project.id}`,
    })
  }
  return { servers: { [OWN_SERVER]: ownServer(agent, url, mission), ...chosen, ...context }, variables }
}

/** A member of a team has the tools of its team as well, also while it works at a task. */
function ownServer({ can }: Agent, url: string, { member, task }: Mission): McpServer {
  const sets = member || task ? 'inside,teams' : null
  if (can.mcp === 'http')
    return {
      url: `${url}${AGENT_MCP}${sets ? `?tools=${sets}` : ''}`,
      headers: { Authorization: `Bearer \${FLEET_TOKEN}` },
    }
  const env = { FLEET_URL: `\${FLEET_URL}`, FLEET_TOKEN: `\${FLEET_TOKEN}` }
  return {
    command: [
      process.execPath,
      ...process.execArgv,
      process.argv[1]!,
      'mcp',
      '--agent',
      ...(sets ? ['--tools', sets] : []),
    ],
    env,
  }
}

const named = ({ name, url, headers, command, env }: ProjectServer): [string, McpServer] => [
  name,
  url === null ? { command: command as [string, ...string[]], env } : { url, headers },
]

function refuseWithout(agent: Agent, mission: Mission): Attached {
  if (!mission.context_mode) return { servers: {}, variables: [] }
  throw new NotAllowed(`${agent.title} takes no MCP servers, so it cannot have context mode.`, {
    try: 'Use an agent that does (fleet agents), or leave context mode out.',
  })
}

/** The server of the npm package `context-mode`, or what the settings name in its place. */
async function contextServer(fleet: Fleet): Promise<McpServer> {
  const [program = '', ...rest] = fleet.settings.contextModeCommand.trim().split(/\s+/)
  const path = await which(program, fleet.environment)
  if (path) return { command: [path, ...rest], env: {} }
  throw new Unfit(`Context mode needs the program ${program}, which was not found.`, {
    try: 'npm install -g context-mode, or name another command in FLEET_CONTEXT_MODE_CMD',
  })
}
