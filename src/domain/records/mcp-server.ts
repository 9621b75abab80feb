import * as z from 'zod'
import { InvalidInput } from '../errors.ts'
import { Id, Timestamp } from '../ids.ts'

/** The names under which agents have the fleet's own tools, and those of context mode. */
export const OWN_SERVER = 'fleet'
export const CONTEXT_SERVER = 'context-mode'

/** Where a server offers its tools to agents at work. */
export const AGENT_MCP = '/agent/mcp'

const Words = z.string().min(1).max(4000)
const Values = z.record(z.string().min(1).max(200), z.string().max(4000))

/** An MCP server that every agent on a project gets: reached over HTTP, or started by the client. */
export const ServerSettings = z.object({
  name: z.string().regex(/^[A-Za-z0-9-]{1,40}$/, 'letters, digits and -'),
  url: z
    .url({ protocol: /^https?$/ })
    .max(4000)
    .nullable()
    .default(null)
    .describe('the address of the server; give this or a command'),
  headers: Values.default({}).describe(`secrets by name: Bearer \${GITHUB_TOKEN}`),
  command: z.array(Words).max(50).default([]).describe('the program and its arguments'),
  env: Values.default({}).describe(`secrets by name: \${GITHUB_TOKEN}`),
  enabled: z.boolean().default(true),
})
export type ServerSettings = z.infer<typeof ServerSettings>

export const ProjectServer = ServerSettings.extend({ id: Id, created_at: Timestamp })
export type ProjectServer = z.infer<typeof ProjectServer>

/** A field with such a name is a secret. */
const SECRET = /authorization|token|secret|passw|key(?![a-z])|credential|cookie/i
const PLACE_OF_SECRET = /(file|path|dir|name)$/i
const REFERENCE = /\$\{[A-Za-z_][A-Za-z0-9_]*\}/

/** Checks that involve several fields. A secret in plain text would be visible to everyone who lists servers. */
export function requireServer({ name, url, headers, command, env }: ServerSettings): void {
  if (name === OWN_SERVER || name === CONTEXT_SERVER) throw new InvalidInput('name', `${name} is the fleet's own`)
  if ((url === null) === (command.length === 0))
    throw new InvalidInput('url', 'must be given, or a command; not both', {
      try: 'fleet mcp-server add docs --address https://…, or fleet mcp-server add docs -- npx docs-server',
    })
  if (url === null && Object.keys(headers).length) throw new InvalidInput('headers', 'are for a server with a url')
  if (url !== null && Object.keys(env).length) throw new InvalidInput('env', 'is for a server with a command')
  const broken = Object.entries(headers).find(pair => pair.some(text => /[\r\n\0]/.test(text)))
  if (broken) throw new InvalidInput('headers', 'must each be one line')
  const named = [...Object.entries({ ...headers, ...env }), ...namedIn(command), ...(url ? namedInUrl(url) : [])]
  const written = named.find(
    ([key, value]) => SECRET.test(key) && !PLACE_OF_SECRET.test(key) && value && !REFERENCE.test(value),
  )
  if (written)
    throw new InvalidInput(written[0], 'is a secret, which is given by the name of a variable of the server', {
      try: `Start the server with the variable set, and write its name: ${written[0]}=\${NAME}`,
    })
}

/** The options of a command with their values: `--token=x`, `--token x`. */
const namedIn = (command: readonly string[]): [string, string][] =>
  command.flatMap((word, at): [string, string][] => {
    const [, name, value] = /^--?([\w-]+)(?:=(.*))?$/s.exec(word) ?? []
    const next = command[at + 1] ?? ''
    return name ? [[name, value ?? (next.startsWith('-') ? '' : next)]] : []
  })

function namedInUrl(url: string): [string, string][] {
  const [, password = ''] = /^\w+:\/\/[^/?#]*:([^/?#]*)@/.exec(url) ?? []
  return [['password', password], ...new URL(url).searchParams]
}
