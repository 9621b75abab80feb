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

/** The variables that servers are given by name. */
export const referencesIn = (servers: Readonly<Record<string, McpServer>>): string[] => [
  ...new Set(Object.values(servers).flatMap(server => textsOf(server).flatMap(namesIn))),
]

type Environment = LaunchRequest['environment']

const expand = (text: string, environment: Environment): string =>
  text.replace(REFERENCE, (whole, name: string) => environment[name] ?? whole)

/** With its values in place, for clients that know no references. */
export function expanded(server: McpServer, environment: Environment): McpServer {
  return rewritten(server, text => expand(text, environment))
}

/** The same server with each of its texts written otherwise, as a client wants to be told of variables. */
export function rewritten(server: McpServer, write: (text: string) => string): McpServer {
  const each = (values: Record<string, string>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, write(value)]))
  if (isHttp(server)) return { url: write(server.url), headers: each(server.headers) }
  const [program, ...rest] = server.command
  return { command: [write(program), ...rest.map(write)], env: each(server.env) }
}

/** `${NAME}` in the words of a client that writes references in another way. */
export const inTheWay =
  (write: (name: string) => string) =>
  (text: string): string =>
    text.replace(REFERENCE, (_, name: string) => write(name))

export interface BySource {
  /** The name of the variable that holds what follows `Bearer`. */
  bearer: string | undefined
  /** Values that are all of a variable. */
  named: Record<string, string>
  plain: Record<string, string>
}

/** Where the values come from, for clients that are told of variables beside the values. */
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

/** As several clients write it in a file of their own. */
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

/** Names become part of the names of tools, and two clients part them at an underscore. */
export const SERVER_NAME = /^[A-Za-z0-9-]+$/

/** The servers given, whose names become part of the names of their tools. */
export function serversOf({ mcpServers }: Pick<LaunchRequest, 'mcpServers'>): [string, McpServer][] {
  const servers = Object.entries(mcpServers)
  const wrong = servers.find(([name]) => !SERVER_NAME.test(name))
  if (!wrong) return servers
  throw new InvalidInput('mcp_servers', `${JSON.stringify(wrong[0])} is no name for a server`, {
    try: 'Use letters, digits and -.',
  })
}

/** Without its tools the agent does what it can; a person should know why they were missing. */
export const notStarted = (name: string, why: string): AgentEvent => ({
  type: 'warning',
  text: `The MCP server ${name} did not start${why ? `: ${why}` : '.'}`,
})
