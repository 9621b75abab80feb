import { existsSync } from 'node:fs'
import * as z from 'zod'
import type { Fleet } from '../fleet/fleet.ts'
import { lookUp } from '../fleet/records.ts'
import { CLIENTS, type ClientFolders, type McpClient, type Reach, SCOPES, type Scope } from '../install/clients.ts'
import { inserted, valueAt } from '../install/document.ts'
import { CLIENT_NAMES, SERVER, TOKEN_VARIABLE } from '../install/names.ts'
import { addressOf, byAddress, commandOf, isOnPath } from '../install/reach.ts'
import { toml } from '../install/toml-format.ts'
import { ownerTokenFile } from '../platform/keys.ts'
import { textOf } from '../platform/whole-files.ts'
import { foldersFor, SOME_PROJECT, startedBy } from './connecting.ts'
import { ProjectRef } from './inputs.ts'
import { query } from './operation.ts'

const Text = z.object({
  text: z.string().describe('the content of the file if it has nothing else; it contains no secret'),
  command: z.string().describe('writes this and keeps everything else in the file'),
})

const Integration = z.object({
  name: z.enum(CLIENT_NAMES),
  title: z.string(),
  installed: z.boolean().describe('the client was found on this machine'),
  format: z.enum(['json', 'toml']),
  files: z.array(
    z.object({
      scope: z.enum(SCOPES),
      path: z.string(),
      connected: z.boolean().describe('the file names the fleet'),
    }),
  ),
  allow: z.string().nullable().describe('why no file can allow its tools; empty: one can'),
  started: Text.describe('the client starts the fleet itself, over a pipe'),
  over_http: Text.describe('the client calls the server at its address').nullable(),
  check: z.string().describe('where you can see that it worked'),
  guide: z.string().describe('the page of the documentation'),
})

export const integrations = [
  query({
    name: 'list_integrations',
    may: 'system.inspect',
    mcp: 'system',
    summary: 'Which MCP clients are on this machine and connected to this fleet, and how to connect any other program',
    http: 'GET /api/integrations',
    input: z.object({ project_id: ProjectRef.optional().describe('whose repository to look at, besides the user') }),
    output: z.object({
      clients: z.array(Integration),
      mcp: z.string().nullable().describe('the address for any other client; empty: the server has never run'),
      rest: z.string().nullable().describe('the address of the REST interface; /docs describes it'),
      token: z
        .object({ variable: z.string(), file: z.string() })
        .describe('the variable that clients over HTTP take the token from, and the file that holds it'),
    }),
    run: async ({ fleet }, { project_id }) => {
      const project = project_id ? (await lookUp(fleet, 'projects', project_id)).value : undefined
      const address = addressOf(fleet.home.path)
      return {
        clients: CLIENTS.map(client => integration(fleet, client, foldersFor(fleet, project), address)),
        mcp: address ? new URL('/mcp', address).href : null,
        rest: address ? new URL('/api', address).href : null,
        token: { variable: TOKEN_VARIABLE, file: ownerTokenFile(fleet.home.path) },
      }
    },
  }),
]

function integration(
  fleet: Fleet,
  client: McpClient,
  folders: ClientFolders,
  address: string | undefined,
): z.infer<typeof Integration> {
  const program = commandOf(folders.env, [process.execPath, process.argv[1]!])
  const named = (more = '') => `${program.join(' ')} mcp install ${client.name}${more}`
  return {
    name: client.name,
    title: client.title,
    installed: isOnPath(client.program, folders.env) || (client.folder ? existsSync(client.folder(folders)) : false),
    format: client.format === toml ? 'toml' : 'json',
    files: SCOPES.flatMap(scope => fileOf(client, scope, folders)),
    allow: 'cannot' in client.allow ? client.allow.cannot : null,
    started: { text: textFor(client, startedBy(fleet, 'user')), command: named() },
    over_http: address ? { text: textFor(client, byAddress(address, [])), command: named(' --http') } : null,
    check: client.check,
    guide: `docs/integrations/${client.name}.md`,
  }
}

/** The content of a file that has only this entry. */
function textFor(client: McpClient, reach: Reach): string {
  const item = { path: [...client.servers, SERVER], value: client.entry(reach) }
  return inserted('', client.format.insertions('', item))
}

function fileOf(client: McpClient, scope: Scope, folders: ClientFolders): z.infer<typeof Integration>['files'] {
  const path = client.files[scope]?.(folders)
  const isKnown = scope === 'user' || folders.project !== SOME_PROJECT
  return path ? [{ scope, path, connected: isKnown && isConnected(client, path) }] : []
}

/** A file that cannot be read counts as not connected. */
function isConnected({ format, servers }: McpClient, path: string): boolean {
  try {
    return valueAt(format.read(textOf(path) ?? ''), [...servers, SERVER]) !== undefined
  } catch {
    return false
  }
}
