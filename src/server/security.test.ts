import type { OutgoingHttpHeaders } from 'node:http'
import { beforeAll, describe, expect, test } from 'vitest'
import { INSIDE, OPERATIONS } from '../operations/index.ts'
import { jsonSchema, routeOf } from '../operations/shape.ts'
import { aServer, type Running } from './server.testkit.ts'

const setOf = ({ mcp }: (typeof OPERATIONS)[number]) => (typeof mcp === 'object' ? mcp.set : mcp)

/** Calls every operation in every way that must be refused. None of these calls may reach `run`. */
const WALK = OPERATIONS.map(operation => {
  const { method, path, pathFields, rest } = routeOf(operation)
  const { required = [], properties = {} } = jsonSchema(operation.input, 'input')
  const named = (field: string) => String((properties[field]?.enum as unknown[] | undefined)?.[0] ?? 'someid')
  const query = rest === 'query' ? required.filter(name => !pathFields.includes(name)) : []
  return {
    name: operation.name,
    method,
    path: `${path.replace(/:(\w+)/g, (_, field: string) => named(field))}?${query.map(name => `${name}=someid`).join('&')}`,
    body: rest === 'body' ? {} : undefined,
    forAgents: operation.agentMay !== undefined,
    ofTeams: setOf(operation) === 'teams',
  }
})

const PROOF_OF_NOBODY = `Fleet-Proof nobody.${Date.now()}.${'n'.repeat(16)}..${'s'.repeat(86)}`

let ran: string[]
beforeAll(() => {
  expect(WALK.length).toBeGreaterThan(35)
})

async function aWatchedServer(): Promise<Running> {
  ran = []
  const watched = OPERATIONS.map(operation => ({
    ...operation,
    run: () => {
      ran.push(operation.name)
      throw new Error('reached')
    },
  })) as unknown as typeof OPERATIONS
  return aServer(watched)
}

async function statuses(
  running: Running,
  how: { headers?: OutgoingHttpHeaders; token?: string | null; body?: string },
  only = WALK,
): Promise<Record<string, number>> {
  const answers: Record<string, number> = {}
  for (const { name, method, path, body } of only) {
    const { status, json } = await running.ask(method, path, { body, ...how })
    expect(json.error.message, name).toBeTypeOf('string')
    answers[name] = status
  }
  return answers
}

const everywhere = (status: number, only = WALK) => Object.fromEntries(only.map(({ name }) => [name, status]))

describe('on every operation', () => {
  test.each([
    ['no token', { token: null }, 401],
    ['a wrong token', { token: 'x'.repeat(32) }, 401],
    ['a token in the wrong form', { token: null, headers: { authorization: 'Basic b3duZXI6eA==' } }, 401],
    ['a cookie', { token: null, headers: { cookie: `fleet_x=${'x'.repeat(60)}` } }, 401],
    ['a proof of nobody', { token: null, headers: { authorization: PROOF_OF_NOBODY } }, 401],
    ['a foreign Origin', { headers: { origin: 'https://evil.example' } }, 403],
    ['the Origin of a sandboxed page', { headers: { origin: 'null' } }, 403],
    ['the Origin of another local port', { headers: { origin: 'http://127.0.0.1:1' } }, 403],
    ['a cross-site request', { headers: { 'sec-fetch-site': 'cross-site' } }, 403],
    ['a foreign Host', { headers: { host: 'evil.example' } }, 403],
  ])('%s is refused', async (_, how, status) => {
    const running = await aWatchedServer()
    expect(await statuses(running, how)).toEqual(everywhere(status))
    expect(ran).toEqual([])
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'a change sent as %s is refused',
    async type => {
      const running = await aWatchedServer()
      const writes = WALK.filter(({ method }) => method !== 'GET')
      expect(await statuses(running, { headers: { 'content-type': type }, body: '{"title":"x"}' }, writes)).toEqual(
        everywhere(415, writes),
      )
      expect(await statuses(running, { headers: { 'content-type': type }, body: '' }, writes)).toEqual(
        everywhere(415, writes),
      )
      expect(ran).toEqual([])
    },
  )

  test('the token of a session is refused, and where agents may ask, it is refused about others', async () => {
    const running = await aWatchedServer()
    const token = await running.session('running')
    const forOwners = WALK.filter(({ forAgents }) => !forAgents)
    expect(await statuses(running, { token }, forOwners)).toEqual(everywhere(403, forOwners))
    // An operation about the caller itself names nobody else; test/fleet/sessions/inside.test.ts checks its answers.
    // What teams offer is about the caller's own team: operations/teams.test.ts.
    const inside = INSIDE.map(({ name }) => name)
    await statuses(
      running,
      { token },
      WALK.filter(({ name, forAgents, ofTeams }) => forAgents && !ofTeams && !inside.includes(name)),
    )
    expect(ran).toEqual([])
  })

  test('the token of a session that has ended is no token', async () => {
    const running = await aWatchedServer()
    expect(await statuses(running, { token: await running.session('ended') })).toEqual(everywhere(401))
  })

  test('the walk can fail: with the token the operations are reached', async () => {
    const running = await aWatchedServer()
    const reachable = WALK.filter(({ method }) => method === 'GET')
    expect(await statuses(running, {}, reachable)).toEqual(everywhere(500, reachable))
    expect(ran).toEqual(reachable.map(({ name }) => name))
  })

  test('an agent reaches what is for agents about its own mission, session and project', async () => {
    const running = await aWatchedServer()
    const token = await running.session('running')
    const own = { mission_id: 'mission-of-it', session_id: 'session-running', project_id: 'project-of-it' }
    // What an agent may ask of them, and nothing else.
    const ASKED: Record<string, string> = {
      read_past_reports: `?mission_id=${own.mission_id}`,
      list_mail: '?between=ada&between=bob',
    }
    const forAgents = OPERATIONS.filter(operation => operation.agentMay && operation.http.startsWith('GET'))
    for (const operation of forAgents) {
      const { method, path } = routeOf(operation)
      await running.ask(
        method,
        path.replace(/:(\w+)/g, (_, field: keyof typeof own) => own[field]) + (ASKED[operation.name] ?? ''),
        { token },
      )
    }
    expect(ran).toEqual(forAgents.map(({ name }) => name))
    expect(ran.length).toBeGreaterThan(0)
  })
})

test('the OpenAPI document has every operation', async () => {
  const { ask } = await aServer(OPERATIONS)
  const { json } = await ask('GET', '/api/openapi.json')
  const described = Object.values(json.paths as Record<string, Record<string, { operationId: string }>>).flatMap(
    methods => Object.values(methods),
  )
  expect(described.map(({ operationId }) => operationId).sort()).toEqual(OPERATIONS.map(({ name }) => name).sort())
})

test('a part of an address that is far too long is refused like any other, after the guard', async () => {
  const running = await aServer(OPERATIONS)
  const withPath = OPERATIONS.filter(({ http }) => http.includes('/:'))
  expect(withPath.length).toBeGreaterThan(20)
  for (const length of [201, 300, 4000])
    for (const operation of withPath) {
      const { method, path, rest } = routeOf(operation)
      const long = path.replace(/:\w+/g, 'x'.repeat(length))
      const body = rest === 'body' ? {} : undefined
      expect([operation.name, (await running.ask(method, long, { token: null, body })).status]).toEqual([
        operation.name,
        401,
      ])
      const { status } = await running.ask(method, long, { body })
      expect([operation.name, status >= 400 && status < 500]).toEqual([operation.name, true])
    }
  expect(running.log()).not.toContain('unexpected error')
})
