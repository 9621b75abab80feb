import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { Session } from '../domain/records/session.ts'
import { type Fleet, makeFleet } from '../fleet/fleet.ts'
import type { Operation } from '../operations/operation.ts'
import { openHome } from '../platform/home.ts'
import { memoryKeys } from '../platform/keys.ts'
import { sessionToken } from '../platform/tokens.ts'
import { memoryStore } from '../store/index.ts'
import type { Endpoint } from './mcp/index.ts'
import { type Server, type ServerOptions, serve } from './server.ts'

export interface Running {
  fleet: Fleet
  server: Server
  said: string[]
  log(): string
  /** Sends the owner's token unless other headers are given for it. */
  ask(
    method: string,
    path: string,
    options?: { headers?: OutgoingHttpHeaders; body?: unknown; token?: string | null },
  ): Promise<Answer>
  /** The token of a session that is running, or has ended. */
  session(status: 'running' | 'ended'): Promise<string>
}

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: each test says what it expects
  json: any
}

export async function aFleet(environment: NodeJS.ProcessEnv = {}): Promise<Fleet> {
  const folder = mkdtempSync(join(tmpdir(), 'fleet-server-'))
  const fleet = makeFleet({ home: openHome(folder), keys: memoryKeys(), store: memoryStore(), environment })
  onTestFinished(async () => {
    await fleet.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return fleet
}

export async function aServer(
  operations: readonly Operation[],
  options: Partial<ServerOptions> & { environment?: NodeJS.ProcessEnv; endpoints?: readonly Endpoint[] } = {},
): Promise<Running> {
  const { environment, endpoints, ...more } = options
  const fleet = await aFleet(environment)
  const said: string[] = []
  const server = await serve(fleet, operations, { port: 0, say: line => said.push(line), ...more }, endpoints)
  onTestFinished(() => server.close())
  const owner = await fleet.keys.ownerToken()
  return {
    fleet,
    server,
    said,
    log: () => readFileSync(join(fleet.home.logs, 'server.log'), 'utf8'),
    ask: (method, path, { headers = {}, body, token = owner } = {}) =>
      raw(
        server.url,
        method,
        path,
        {
          ...(token && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        body,
      ),
    session: status => sessionIn(fleet, status),
  }
}

/** Plain HTTP, because fetch does not let a caller choose Host and Origin. */
export function raw(
  url: string,
  method: string,
  path: string,
  headers: OutgoingHttpHeaders,
  body?: unknown,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const sentBody = body === undefined || typeof body === 'string' ? (body ?? '') : JSON.stringify(body)
    const length = sentBody && { 'content-length': Buffer.byteLength(sentBody) }
    const sent = request(
      { hostname, port, method, path, headers: { ...headers, ...length }, agent: false },
      response => {
        const parts: Buffer[] = []
        response.on('error', reject).on('data', part => parts.push(part))
        response.on('end', () => {
          const text = Buffer.concat(parts).toString()
          const isJson = response.headers['content-type']?.startsWith('application/json')
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            text,
            json: isJson && text ? JSON.parse(text) : undefined,
          })
        })
      },
    )
    sent.on('error', reject)
    sent.end(sentBody)
  })
}

async function sessionIn(fleet: Fleet, status: 'running' | 'ended'): Promise<string> {
  const id = `session-${status}`
  const value = Session.parse({
    id,
    mission_id: 'mission-of-it',
    project_id: 'project-of-it',
    number: 1,
    reason: 'first',
    agent: 'shell',
    model: null,
    status,
    worktree: null,
    branch: null,
    created_at: fleet.now(),
  })
  await fleet.store.commit({ changes: [{ put: 'sessions', value, expects: 'absent' }] })
  return sessionToken(fleet.keys, value)
}
