import { NotAllowed, NotFound } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { type ProjectServer, requireServer, type ServerSettings } from '../../domain/records/mcp-server.ts'
import { MOST_SERVERS, type Project } from '../../domain/records/project.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { all, current, put } from '../records.ts'

export async function addServer(
  fleet: Fleet,
  ask: Ask,
  projectId: string,
  settings: ServerSettings,
): Promise<ProjectServer> {
  requireServer(settings)
  const id = await changeServers(fleet, ask, projectId, (servers, now) => {
    if (servers.some(({ name }) => name === settings.name))
      throw new NotAllowed(`The project has a server ${settings.name} already.`, {
        try: `fleet mcp-server remove ${settings.name}`,
      })
    if (servers.length >= MOST_SERVERS)
      throw new NotAllowed(`The project has ${servers.length} servers already, and it can have no more.`, {
        try: 'fleet mcp-server list, then fleet mcp-server remove <server>',
      })
    const added = { ...settings, id: newId(), created_at: now }
    return { subject: added.id, servers: [...servers, added] }
  })
  return serverIn((await current(fleet, 'projects', projectId)).value, id)
}

export async function setServerEnabled(fleet: Fleet, ask: Ask, ref: string, enabled: boolean): Promise<ProjectServer> {
  const { project, server } = await findServer(fleet, ref)
  await changeServers(fleet, ask, project.id, servers => ({
    subject: server.id,
    servers: servers.map(each => (each.id === server.id ? { ...each, enabled } : each)),
  }))
  return { ...server, enabled }
}

export async function removeServer(fleet: Fleet, ask: Ask, ref: string): Promise<string> {
  const { project, server } = await findServer(fleet, ref)
  return changeServers(fleet, ask, project.id, servers => ({
    subject: server.id,
    servers: servers.filter(({ id }) => id !== server.id),
  }))
}

function changeServers(
  fleet: Fleet,
  ask: Ask,
  projectId: string,
  decide: (servers: ProjectServer[], now: string) => { subject: string; servers: ProjectServer[] },
): Promise<string> {
  return oncePerKey(fleet, ask, async () => {
    const { value: project, version } = await current(fleet, 'projects', projectId)
    const { actor, now: time } = by(fleet, ask)
    const { subject, servers } = decide(project.mcp_servers, time)
    const event = {
      kind: 'project_updated' as const,
      time,
      actor,
      project_id: project.id,
      data: { fields: ['mcp_servers'] },
    }
    return {
      subject,
      changes: [put('projects', { ...project, mcp_servers: servers, updated_at: time }, version)],
      events: [event],
    }
  })
}

function serverIn(project: Project, id: string): ProjectServer {
  const found = project.mcp_servers.find(server => server.id === id)
  if (!found) throw new NotFound('MCP server', id, { try: 'fleet mcp-server list' })
  return found
}

/** Finds a server by its id, or by the beginning of it. */
async function findServer(fleet: Fleet, ref: string): Promise<{ project: Project; server: ProjectServer }> {
  const found: { project: Project; server: ProjectServer }[] = []
  for await (const { value: project } of all(fleet, 'projects', 'created'))
    for (const server of project.mcp_servers) if (server.id.startsWith(ref)) found.push({ project, server })
  if (found.length === 1) return found[0]!
  throw new NotFound('MCP server', ref, { try: 'fleet mcp-server list' })
}
