import routes from 'virtual:operations'
import type { z } from 'zod'
import type { ForPeople } from '../../../src/operations/index.ts'
import { proofOf, provenFetch } from '../../../src/server/pages/proof.js'

type Offered = { [O in ForPeople as O['name']]: O }
export type Name = keyof Offered
export type Input<N extends Name> = z.input<Offered[N]['input']>
export type Output<N extends Name> = z.output<Offered[N]['output']>

/** A worktree that holds work which no commit does, and the sentence that says which. */
export interface HeldWorktree {
  path: string
  left_behind: string
}

interface RefusedBody {
  message?: string
  code?: string
  try?: string
  worktrees?: HeldWorktree[]
}

/** The server said no, in a sentence for people. */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  /** What to do next, if the server knows. */
  readonly advice: string | undefined
  readonly worktrees: readonly HeldWorktree[]

  constructor(status: number, body: { error?: RefusedBody }) {
    super(body.error?.message ?? `The server answered ${status}.`)
    this.status = status
    this.code = body.error?.code ?? ''
    this.advice = body.error?.try
    this.worktrees = body.error?.worktrees ?? []
  }
}

/** The server could not be asked at all. */
export class Unreachable extends Error {
  readonly advice = 'Try again once it is back: what it may have heard already is not done twice.'

  constructor() {
    super('The server does not answer.')
  }
}

export interface Asking {
  signal?: AbortSignal
  /** The same command sent again with the same key is carried out once. */
  key?: string
}

/** Browsers keep 64 kB on their way for a page that is gone, all requests together. */
const SHORT_CHARS = 8000

export async function ask<N extends Name>(name: N, input: Input<N>, asking: Asking = {}): Promise<Output<N>> {
  const request = requestFor(name, input as Record<string, unknown>)
  const { method, address, body } = request
  const options = {
    method,
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(asking.key && { 'idempotency-key': asking.key }),
    },
    body,
    signal: asking.signal,
    // What is done in the last moment of a page still arrives.
    keepalive: asking.key !== undefined && (body?.length ?? 0) <= SHORT_CHARS,
  }
  const response = await provenFetch(address, options, takeReady(request)).catch(error => {
    throw asking.signal?.aborted ? error : new Unreachable()
  })
  if (!response.ok) throw new Refused(response.status, await response.json().catch(() => ({})))
  // Cut off in the middle, it is no answer.
  return response.json().catch(error => {
    throw asking.signal?.aborted ? error : new Unreachable()
  })
}

const ready = new Map<string, { proof: string; since: number }>()
/** The server takes a proof for a minute. */
const READY_MS = 45_000

/**
 * Signs a request that may have to be sent in the last moment of a page, when there is no time left for that. What a
 * person is told comes after it: whoever leaves then has it done.
 */
export async function getReady<N extends Name>(name: N, input: Input<N>): Promise<void> {
  const request = requestFor(name, input as Record<string, unknown>)
  const proof = await proofOf(request.method, request.address, request.body).catch(() => undefined)
  if (proof) ready.set(JSON.stringify(request), { proof, since: Date.now() })
}

/** Each serves once. */
function takeReady(request: Request): string | undefined {
  const said = JSON.stringify(request)
  const found = ready.get(said)
  ready.delete(said)
  return found && Date.now() - found.since < READY_MS ? found.proof : undefined
}

/** Where an operation is reached by GET: for streams, and for links to what it answers. */
export const addressOf = <N extends Name>(name: N, input: Input<N>): string =>
  requestFor(name, input as Record<string, unknown>).address

interface Request {
  method: string
  address: string
  body?: string
}

function requestFor(name: Name, input: Record<string, unknown>): Request {
  const [method, path] = routes[name]!.split(' ') as [string, string]
  const rest = { ...input }
  const place = path.replace(/:(\w+)/g, (_, field: string) => {
    const value = String(rest[field])
    delete rest[field]
    return encodeURIComponent(value)
  })
  if (method === 'POST' || method === 'PUT') return { method, address: place, body: JSON.stringify(rest) }
  const query = new URLSearchParams()
  for (const [field, value] of Object.entries(rest)) {
    if (value === undefined) continue
    for (const each of [value].flat()) query.append(field, String(each))
  }
  return { method, address: query.size ? `${place}?${query}` : place }
}

/** Only pages served over TLS or from this machine have crypto.randomUUID. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('')
