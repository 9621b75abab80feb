import { InvalidInput } from '../domain/errors.ts'
import type { AgentEvent, HttpServer, LaunchRequest, McpServer, StdioServer } from './contract.ts'

export type { HttpServer, McpServer, StdioServer } from './adapter.ts'

export const isHttp = (server: McpServer): server is HttpServer => 'url' in server

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g
const ONLY_REFERENCE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/
const BEARER = /^Bearer \$\{([A-Za-z_][A-Za-z0-9_]*)\}$/

export const namesIn = (text: string): string[] => [...text.matchAll(REFERENCE)].map(([, name]) => name!)

const textsOf = (server: McpServer): string[] =>
  isHttp(server) ? [server.url, ...Object.values(server.headers)] : [...server.command, ...Object.values(server.env)]

/** The variables that the values of servers name. */
export const referencesIn = (servers: Readonly<Record<string, McpServer>>): string[] => [
  ...new Set(Object.values(servers).flatMap(server => textsOf(server).flatMap(namesIn))),
]

type Environment = LaunchRequest['environment']

const expand = (text: string, environment: Environment): string =>
  text.replace(REFERENCE, (whole, name: string) => environment[name] ?? whole)

/** The server with its variables replaced, for clients that know no references. */
export function expanded(server: McpServer, environment: Environment): McpServer {
  return rewritten(server, text => expand(text, environment))
}

/** The same server with each text rewritten, as a client wants variables to be written. */
export function rewritten(server: McpServer, write: (text: string) => string): McpServer {
  const each = (values: Record<string, string>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, write(value)]))
  if (isHttp(server)) return { url: write(server.url), headers: each(server.headers) }
  const [program, ...rest] = server.command
  return { command: [write(program), ...rest.map(write)], env: each(server.env) }
}

/** `${NAME}` in the form of a client that writes references differently. */
export const inTheWay =
  (write: (name: string) => string) =>
  (text: string): string =>
    text.replace(REFERENCE, (_, name: string) => write(name))

export interface BySource {
  /** The variable that holds the bearer token. */
  bearer: string | undefined
  /** Values that consist of one variable. */
  named: Record<string, string>
  plain: Record<string, string>
}

/** Sorts values by where they come from, for clients that take variables separately. */
export function bySource(values: Record<string, string>, environment: Environment): BySource {
  const found: BySource = { bearer: undefined, named: {}, plain: {} }
  for (const [name, value] of Object.entries(values)) {
    const bearer = name.toLowerCase() === 'authorization' ? BEARER.exec(value)?.[1] : undefined
    const variable = ONLY_REFERENCE.exec(value)?.[1]
    if (bearer) found.bearer = bearer
    else if (variable) found.named[name] = variable
    else found.plain[name] = expand(value, environment)
  }
  return found
}

/** The file format that several clients share. */
export function asFile(servers: readonly (readonly [string, McpServer])[]): string {
  const entries = servers.map(([name, server]) => [
    name,
    isHttp(server) ? { type: 'http', ...server } : asStdio(server),
  ])
  return JSON.stringify({ mcpServers: Object.fromEntries(entries) })
}

export function asStdio({ command: [command, ...args], env }: StdioServer) {
  return { command, args, env }
}

/** Names become part of tool names, and two clients split those at an underscore. */
export const SERVER_NAME = /^[A-Za-z0-9-]+$/

/** The given servers. Their names become part of the names of their tools. */
export function serversOf({ mcpServers }: Pick<LaunchRequest, 'mcpServers'>): [string, McpServer][] {
  const servers = Object.entries(mcpServers)
  const wrong = servers.find(([name]) => !SERVER_NAME.test(name))
  if (!wrong) return servers
  throw new InvalidInput('mcp_servers', `${JSON.stringify(wrong[0])} is not a valid name for a server`, {
    try: 'Use letters, digits and -.',
  })
}

/** The agent continues without the tools, and a person should know why they are missing. */
export const notStarted = (name: string, why: string): AgentEvent => ({
  type: 'warning',
  text: `The MCP server ${name} did not start${why ? `: ${why}` : '.'}`,
})
