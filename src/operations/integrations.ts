import { homedir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import type { Fleet } from '../fleet/fleet.ts'
import { CLIENTS, type ClientFolders, type McpClient, type Reach, SCOPES, type Scope } from '../install/clients.ts'
import { inserted, valueAt } from '../install/document.ts'
import { CLIENT_NAMES, SERVER, TOKEN_VARIABLE } from '../install/names.ts'
import { addressOf, byAddress, byCommand, commandOf } from '../install/reach.ts'
import { toml } from '../install/toml-format.ts'
import { homePath } from '../platform/home.ts'
import { ownerTokenFile } from '../platform/keys.ts'
import { textOf } from '../platform/whole-files.ts'
import { query } from './operation.ts'

const Text = z.object({
  text: z.string().describe('the content of the file if it has nothing else; it contains no secret'),
  command: z.string().describe('writes this and keeps everything else in the file'),
  needs: z.string().nullable().describe('the variable to set to the secret before the client starts'),
})

const Integration = z.object({
  name: z.enum(CLIENT_NAMES),
  title: z.string(),
  format: z.enum(['json', 'toml']),
  files: z.array(z.object({ scope: z.enum(SCOPES), path: z.string(), installed: z.boolean() })),
  started: Text.describe('the client starts the fleet itself, over a pipe'),
  over_http: Text.describe('the client calls the server at its address').nullable(),
  check: z.string().describe('where you can see that it worked'),
  guide: z.string().describe('the page of the documentation'),
})

const Example = z.object({ title: z.string(), language: z.string(), text: z.string() })

/** Stands for the project the person is in. */
const SOME_PROJECT = '<your repository>'

export const integrations = [
  query({
    name: 'list_integrations',
    may: 'system.inspect',
    mcp: 'system',
    summary:
      'How to connect each MCP client and other programs to this fleet: what to paste, and the command that does it',
    http: 'GET /api/integrations',
    input: z.object({}),
    output: z.object({
      clients: z.array(Integration),
      mcp: z.string().nullable().describe('the address for any other client; empty: the server has never run'),
      examples: z.array(Example).describe('for the REST interface and webhooks; they contain no secret'),
    }),
    run: async ({ fleet }) => {
      const address = addressOf(fleet.home.path)
      return {
        clients: CLIENTS.map(client => integration(fleet, client, address)),
        mcp: address ? new URL('/mcp', address).href : null,
        examples: [...(address ? restExamples(fleet, address) : []), webhookExample(fleet)],
      }
    },
  }),
]

function integration(fleet: Fleet, client: McpClient, address: string | undefined): z.infer<typeof Integration> {
  const env = { ...fleet.environment }
  const folders: ClientFolders = { user: env.HOME || homedir(), project: SOME_PROJECT, env }
  const isUsual = fleet.home.path === homePath({})
  const program = commandOf(env, [process.execPath, process.argv[1]!])
  const named = (more = '') => `${program.join(' ')} mcp install ${client.name}${more}`
  const started = byCommand(program, isUsual ? undefined : fleet.home.path, [])
  return {
    name: client.name,
    title: client.title,
    format: client.format === toml ? 'toml' : 'json',
    files: SCOPES.flatMap(scope => fileOf(client, scope, folders)),
    started: { text: textFor(client, started), command: named(), needs: null },
    over_http: address
      ? {
          text: textFor(client, byAddress(address, [])),
          command: named(' --http'),
          needs: `export ${TOKEN_VARIABLE}="$(cat ${quoted(ownerTokenFile(fleet.home.path))})"`,
        }
      : null,
    check: client.check,
    guide: `docs/integrations/${client.name}.md`,
  }
}

/** Quotes a path so that a shell takes it as one word. */
const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`)

/** The content of a file that has only this entry. */
function textFor(client: McpClient, reach: Reach): string {
  const item = { path: [...client.servers, SERVER], value: client.entry(reach) }
  return inserted('', client.format.insertions('', item))
}

function fileOf(client: McpClient, scope: Scope, folders: ClientFolders): z.infer<typeof Integration>['files'] {
  const path = client.files[scope]?.(folders)
  return path ? [{ scope, path, installed: scope === 'user' && isInstalled(client, path) }] : []
}

/** A file that cannot be read counts as not installed. */
function isInstalled({ format, servers }: McpClient, path: string): boolean {
  try {
    return valueAt(format.read(textOf(path) ?? ''), [...servers, SERVER]) !== undefined
  } catch {
    return false
  }
}

function restExamples({ home }: Fleet, address: string): z.infer<typeof Example>[] {
  const asked = `curl -sS -H "Authorization: Bearer $(cat ${quoted(ownerTokenFile(home.path))})"`
  const example = (title: string, text: string) => ({ title, language: 'sh', text })
  const body = JSON.stringify({
    project_id: '<id>',
    title: 'A title',
    detailed_prompt: 'What to do',
    auto_dispatch: true,
  })
  return [
    example('What runs and what waits', `${asked} ${address}/api/missions`),
    example(
      'Start an agent',
      `${asked} -H 'content-type: application/json' -H "Idempotency-Key: $(uuidgen)" -d '${body}' ${address}/api/missions`,
    ),
    example('Follow events', `${asked} -N ${address}/api/events/stream`),
    example('All operations', `${asked} ${address}/api/openapi.json`),
  ]
}

function webhookExample({ home }: Fleet): z.infer<typeof Example> {
  const settings = { url: 'https://example.org/hook', secret: '<your secret>', events: ['landed', 'failed'] }
  return {
    title: 'Send signed events to your own address',
    language: 'sh',
    text: [
      `umask 077; mkdir -p ${quoted(join(home.path, 'plugins'))}`,
      `cat > ${quoted(join(home.path, 'plugins', 'webhook.json'))} <<'END'`,
      JSON.stringify(settings, null, 2),
      'END',
      'fleet plugin enable webhook',
    ].join('\n'),
  }
}
