import { homedir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import type { Fleet } from '../fleet/fleet.ts'
import { CLIENTS, type McpClient, type Place, type Reach, SCOPES, type Scope } from '../install/clients.ts'
import { inserted, valueAt } from '../install/document.ts'
import { CLIENT_NAMES, SERVER, TOKEN_VARIABLE } from '../install/names.ts'
import { addressOf, byAddress, byCommand, commandOf } from '../install/reach.ts'
import { toml } from '../install/toml-format.ts'
import { homePath } from '../platform/home.ts'
import { textOf } from '../platform/whole-files.ts'
import { query } from './operation.ts'

const Text = z.object({
  text: z.string().describe('what its file holds then, if nothing else is in it; no secret is in it'),
  command: z.string().describe('does it, and keeps what else is in the file'),
  needs: z.string().nullable().describe('what to set in the terminal before the client starts, to the secret itself'),
})

const Integration = z.object({
  name: z.enum(CLIENT_NAMES),
  title: z.string(),
  format: z.enum(['json', 'toml']),
  files: z.array(z.object({ scope: z.enum(SCOPES), path: z.string(), installed: z.boolean() })),
  started: Text.describe('the client starts the fleet itself, over a pipe of its own'),
  over_http: Text.describe('the client asks the server at its address').nullable(),
  check: z.string().describe('where a person sees that it worked'),
  guide: z.string().describe('the page of the documentation'),
})

const Example = z.object({ title: z.string(), language: z.string(), text: z.string() })

/** Told of a project: whichever the person is in. */
const SOME_PROJECT = '<your repository>'

export const integrations = [
  query({
    name: 'list_integrations',
    summary:
      'How each MCP client is told of this fleet, and how programs ask it: what to paste, and the command for it',
    http: 'GET /api/integrations',
    input: z.object({}),
    output: z.object({
      clients: z.array(Integration),
      mcp: z.string().nullable().describe('the address for any other client; empty: it was never up'),
      examples: z.array(Example).describe('of its REST interface and of webhooks; no secret is in them'),
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
  const place: Place = { user: env.HOME || homedir(), project: SOME_PROJECT, env }
  const isUsual = fleet.home.path === homePath({})
  const program = commandOf(env, [process.execPath, process.argv[1]!])
  const named = (more = '') => `${program.join(' ')} mcp install ${client.name}${more}`
  const started = byCommand(program, isUsual ? undefined : fleet.home.path, [])
  return {
    name: client.name,
    title: client.title,
    format: client.format === toml ? 'toml' : 'json',
    files: SCOPES.flatMap(scope => fileOf(client, scope, place)),
    started: { text: textFor(client, started), command: named(), needs: null },
    over_http: address
      ? {
          text: textFor(client, byAddress(address, [])),
          command: named(' --http'),
          needs: `export ${TOKEN_VARIABLE}="$(cat ${quoted(join(fleet.home.path, 'token'))})"`,
        }
      : null,
    check: client.check,
    guide: `docs/integrations/${client.name}.md`,
  }
}

/** As a shell takes it for one word. */
const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`)

/** As it stands in a file of its own. */
function textFor(client: McpClient, reach: Reach): string {
  const item = { path: [...client.servers, SERVER], value: client.entry(reach) }
  return inserted('', client.format.insertions('', item))
}

function fileOf(client: McpClient, scope: Scope, place: Place): z.infer<typeof Integration>['files'] {
  const path = client.files[scope]?.(place)
  return path ? [{ scope, path, installed: scope === 'user' && isInstalled(client, path) }] : []
}

/** A file that cannot be read says nothing of the fleet. */
function isInstalled({ format, servers }: McpClient, path: string): boolean {
  try {
    return valueAt(format.read(textOf(path) ?? ''), [...servers, SERVER]) !== undefined
  } catch {
    return false
  }
}

function restExamples({ home }: Fleet, address: string): z.infer<typeof Example>[] {
  const asked = `curl -sS -H "Authorization: Bearer $(cat ${quoted(join(home.path, 'token'))})"`
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
      'Send an agent to work',
      `${asked} -H 'content-type: application/json' -H "Idempotency-Key: $(uuidgen)" -d '${body}' ${address}/api/missions`,
    ),
    example('Follow what happens', `${asked} -N ${address}/api/events/stream`),
    example('What it takes and answers', `${asked} ${address}/api/openapi.json`),
  ]
}

function webhookExample({ home }: Fleet): z.infer<typeof Example> {
  const settings = { url: 'https://example.org/hook', secret: '<a secret of yours>', events: ['landed', 'failed'] }
  return {
    title: 'Send what happens to an address of yours, signed',
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
