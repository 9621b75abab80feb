import * as z from 'zod'
import { ProjectServer, ServerSettings } from '../domain/records/mcp-server.ts'
import { addServer, removeServer, setServerEnabled } from '../fleet/projects/mcp-servers.ts'
import { lookUp } from '../fleet/records.ts'
import { ask, ProjectRef, Ref } from './inputs.ts'
import { command, query } from './operation.ts'

const WithProject = z.object({ project_id: ProjectRef })
const WithServer = z.object({ server_id: Ref })

export const mcpServers = [
  query({
    name: 'list_mcp_servers',
    may: 'projects.read',
    mcp: 'projects',
    summary: 'List the MCP servers that agents of a project get besides the one of the fleet',
    http: 'GET /api/projects/:project_id/mcp-servers',
    input: WithProject,
    output: z.object({ mcp_servers: z.array(ProjectServer) }),
    run: async ({ fleet }, { project_id }) => ({
      mcp_servers: (await lookUp(fleet, 'projects', project_id)).value.mcp_servers,
    }),
  }),
  command({
    name: 'add_mcp_server',
    may: 'mcp_servers.write',
    mcp: 'projects',
    summary: 'Give every agent of a project an MCP server; it applies to sessions that start from now on',
    http: 'POST /api/projects/:project_id/mcp-servers',
    input: ServerSettings.extend(WithProject.shape),
    output: ProjectServer,
    run: async (context, { project_id, ...settings }) => {
      const { value } = await lookUp(context.fleet, 'projects', project_id)
      return addServer(context.fleet, ask(context, 'add_mcp_server'), value.id, settings)
    },
  }),
  switching('enable_mcp_server', 'Give an MCP server to agents again', true),
  switching('disable_mcp_server', 'Keep an MCP server, but do not give it to agents', false),
  command({
    name: 'remove_mcp_server',
    may: 'mcp_servers.write',
    mcp: 'projects',
    summary: 'Remove an MCP server from a project',
    http: 'DELETE /api/mcp-servers/:server_id',
    input: WithServer,
    output: z.object({ removed: z.string() }),
    run: async (context, { server_id }) => ({
      removed: await removeServer(context.fleet, ask(context, 'remove_mcp_server'), server_id),
    }),
  }),
]

function switching(name: 'enable_mcp_server' | 'disable_mcp_server', summary: string, enabled: boolean) {
  return command({
    may: 'mcp_servers.write',
    mcp: 'projects',
    name,
    summary,
    http: `POST /api/mcp-servers/:server_id/${enabled ? 'enable' : 'disable'}`,
    input: WithServer,
    output: ProjectServer,
    run: (context, { server_id }) => setServerEnabled(context.fleet, ask(context, name), server_id, enabled),
  })
}
