import { expect, onTestFinished, test } from 'vitest'
import { NotAllowed } from '../../../src/domain/errors.ts'
import { ALIASES } from '../../../src/operations/aliases/index.ts'
import { OPERATIONS } from '../../../src/operations/index.ts'
import type { Operation, Query } from '../../../src/operations/operation.ts'
import { type JsonSchema, jsonSchema, routeOf } from '../../../src/operations/shape.ts'
import { DEFAULT_SETS, TOOL_SETS, type ToolSet, USUAL_TOOLS } from '../../../src/operations/tool-sets.ts'
import { TOOLS, toolsOf } from '../../../src/operations/tools.ts'
import { mcpClient } from '../../../src/server/mcp/client.testkit.ts'
import { inside } from '../../../src/server/mcp/inside.ts'
import { outside } from '../../../src/server/mcp/outside.ts'
import { aServer, raw } from '../../../src/server/server.testkit.ts'
import { serve } from '../../../src/server/server.ts'

const RAN = 'It was carried out.'
const own = { mission_id: 'mission-of-it', session_id: 'session-running', project_id: 'project-of-it' }
const foreign = { mission_id: 'another', session_id: 'another', project_id: 'another' }

/** Every operation, with its permission check but without its effect. */
const HOLLOW = OPERATIONS.map(operation => ({
  ...operation,
  run: async (...given: Parameters<Query['run']>) => {
    const onlyInside = operation.may === 'session.act' && given[0].caller.kind === 'owner'
    if (onlyInside) return (operation as Query).run(...given)
    throw new NotAllowed(RAN)
  },
})) as readonly Operation[]

async function aHollowFleet() {
  const { fleet, session } = await aServer([])
  const tools = toolsOf(HOLLOW)
  const server = await serve(fleet, HOLLOW, { port: 0, say: () => {} }, [outside(fleet, tools), inside(fleet, tools)])
  onTestFinished(() => server.close())
  const tokens = { owner: await fleet.keys.ownerToken(), session: await session('running') }
  const ask = (method: string, path: string, token: string, body?: unknown) =>
    raw(
      server.url,
      method,
      path,
      {
        authorization: `Bearer ${token}`,
        accept: 'application/json, text/event-stream',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body,
    )
  return { url: server.url, tokens, ask }
}

type Ask = Awaited<ReturnType<typeof aHollowFleet>>['ask']
type Verdict = 'allowed' | 'denied'

async function overRest(ask: Ask, operation: Operation, token: string, input: Input): Promise<Verdict> {
  const { method, path, pathFields, rest } = routeOf(operation)
  const filled = path.replace(/:(\w+)/g, (_, field: string) => encodeURIComponent(String(input[field])))
  const others = Object.entries(input).filter(([name]) => !pathFields.includes(name))
  const query = new URLSearchParams(others.map(([name, value]): [string, string] => [name, String(value)]))
  const { status, json } = await ask(
    method,
    rest === 'query' ? `${filled}?${query}` : filled,
    token,
    rest === 'query' ? undefined : Object.fromEntries(others),
  )
  if (status === 403) return 'denied'
  expect(json?.error?.message, `${operation.name}: ${JSON.stringify(json)}`).toBe(RAN)
  return 'allowed'
}

async function overMcp(ask: Ask, address: string, token: string, tool: string, input: Input): Promise<Verdict> {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: input } }
  const { text } = await ask('POST', address, token, call)
  // A slow tool is answered as a stream.
  const { result, error } = JSON.parse(text.replace(/^event: message\ndata: /, ''))
  if (error) {
    expect(error.message).toMatch(/^(There is no tool|The token of a session|tools: there is no set)/)
    return 'denied'
  }
  const [{ text: said }] = result.content
  if (said === RAN) return 'allowed'
  expect(said, tool).toMatch(/^(The token of a session may not use |Only an agent at work|Only a running agent)/)
  return 'denied'
}

test('a caller may use an operation over MCP exactly if it may over REST', async () => {
  const { ask, tokens } = await aHollowFleet()
  const counts = { allowed: 0, denied: 0 }
  for (const { operation, name, set } of TOOLS) {
    if (!operation) continue
    const hollow = HOLLOW.find(each => each.name === operation.name)!
    for (const [who, path] of [
      ['owner', '/mcp'],
      ['session', '/agent/mcp'],
    ] as const)
      for (const ids of [own, foreign]) {
        const input = sampleOf(jsonSchema(operation.input, 'input'), ids)
        const rest = await overRest(ask, hollow, tokens[who], input)
        const mcp = await overMcp(ask, `${path}?tools=${set}`, tokens[who], name, input)
        expect([operation.name, who, ids, mcp]).toEqual([operation.name, who, ids, rest])
        counts[rest]++
      }
  }
  console.log(`the same over REST and MCP: ${JSON.stringify(counts)}`)
  expect(counts.allowed).toBeGreaterThan(280)
  expect(counts.denied).toBeGreaterThan(200)
}, 120_000)

test('every operation that answers is in one set under one name, and nothing is offered twice', () => {
  const names = TOOLS.map(({ name }) => name)
  expect(names.toSorted()).toEqual([...new Set(names)].toSorted())
  const offered = new Set(TOOLS.map(({ operation }) => operation?.name))
  const missing = OPERATIONS.filter(({ name, kind }) => kind !== 'stream' && !offered.has(name)).map(({ name }) => name)
  expect(missing.toSorted()).toEqual([
    ...[
      'add_service',
      'attach_member',
      'call_plugin_tool',
      'configure_plugin',
      'connect_client',
      'continue_on_phone',
      'create_scrape_token',
    ],
    ...['disconnect_client', 'get_mission_image', 'get_notification', 'get_notification_settings'],
    ...['get_template_image', 'invite_again'],
    ...['invite_person', 'list_names', 'list_tokens', 'make_token', 'open_live', 'open_terminal', 'preview_connection'],
    ...[
      'remove_person',
      'revoke_scrape_token',
      'revoke_token',
      'rotate_signing_keys',
      'set_notification_settings',
      'set_password',
      'set_roles',
      'sign_out_person',
    ],
    ...['subscribe_browser', 'take_over_in_page', 'test_notifications'],
    'unsubscribe_browser',
  ])
  // Every alias is a name from another tool.
  for (const { name, knownFrom } of ALIASES)
    expect([name, knownFrom]).toEqual([name, expect.stringMatching(/-|codefleet/)])
})

test('the usual sets stay as they are and small, and others are asked for by name', async () => {
  const { url, tokens } = await aHollowFleet()
  const namesAt = async (path: string, token = tokens.owner) => {
    const mcp = await mcpClient(url + path, token)
    onTestFinished(() => mcp.close())
    return (await mcp.client.listTools()).tools.map(({ name }) => name).toSorted()
  }
  expect(await namesAt('/mcp')).toEqual(USUAL_TOOLS)
  for (const set of Object.keys(TOOL_SETS) as ToolSet[])
    expect(await namesAt(`/mcp?tools=${set}`)).toEqual(toolNames([set]))
  expect(await namesAt('/mcp?tools=review,talk')).toEqual(toolNames(['review', 'talk']))
  expect(toolNames(DEFAULT_SETS)).toEqual(USUAL_TOOLS)

  const mine = await namesAt('/agent/mcp', tokens.session)
  expect(mine).toEqual(
    TOOLS.filter(({ set }) => set === 'inside')
      .map(({ name }) => name)
      .toSorted(),
  )
  expect(await namesAt('/agent/mcp?tools=inside,review', tokens.session)).toEqual(
    [...mine, 'comment_mission', 'diff_mission', 'diff_session', 'list_comments'].toSorted(),
  )
  for (const path of ['/mcp?tools=everything', '/mcp?tools=', '/mcp?tools=inside', '/mcp?tools=constructor'])
    await expect(mcpClient(url + path, tokens.owner)).rejects.toThrow(/there is no set .*Name some of missions, /)
})

const toolNames = (sets: readonly string[]): string[] =>
  TOOLS.filter(({ set }) => sets.includes(set))
    .map(({ name }) => name)
    .toSorted()

type Input = Record<string, unknown>

/** The smallest input of an operation, with these records where it needs some. */
function sampleOf(schema: JsonSchema, ids: Record<string, string>): Input {
  const wanted = new Set([...(schema.required ?? []), ...Object.keys(ids)])
  return Object.fromEntries(
    Object.entries(schema.properties ?? {})
      .filter(([name]) => wanted.has(name))
      .map(([name, field]) => [name, ids[name] ?? aValue(field)]),
  )
}

function aValue(field: JsonSchema): unknown {
  const [first] = field.anyOf ?? []
  if (first) return aValue(first)
  if (field.enum) return (field.enum as unknown[])[0]
  if (field.const !== undefined) return field.const
  if (field.type === 'array')
    return Array.from({ length: Number(field.minItems ?? 0) }, () => aValue(field.items ?? {}))
  if (field.type === 'object') return sampleOf(field, {})
  if (field.type === 'boolean') return true
  if (field.type === 'number' || field.type === 'integer') return Math.max(Number(field.minimum ?? 1), 1)
  const word = 'x'.padEnd(Number(field.minLength ?? 1), 'x')
  // Where letters will not do, a commit is meant.
  return field.pattern && !new RegExp(String(field.pattern)).test(word) ? '0'.repeat(40) : word
}
