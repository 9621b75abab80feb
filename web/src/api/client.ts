import routes from 'virtual:operations'
import type { z } from 'zod'
import { forPeople } from '../../../src/domain/rules/input-words.ts'
import type { ForPeople } from '../../../src/operations/index.ts'
import { type Request, requestFor } from '../../../src/operations/wire.ts'
import { proofOf, provenFetch } from '../../../src/server/pages/proof.js'
import { adviceForPage } from './advice.ts'

type Offered = { [O in ForPeople as O['name']]: O }
export type Name = keyof Offered
export type Input<N extends Name> = z.input<Offered[N]['input']>
export type Output<N extends Name> = z.output<Offered[N]['output']>

/** A worktree with work that is in no commit, and a sentence about that work. */
export interface HeldWorktree {
  path: string
  left_behind: string
}

interface RefusedBody {
  message?: string
  code?: string
  try?: string
  worktrees?: HeldWorktree[]
  field?: string
}

/** The server refused, with a sentence for people. */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  /** What to do next, if the server knows. */
  readonly advice: string | undefined
  readonly worktrees: readonly HeldWorktree[]
  /** The input that is wrong, if it is one. */
  readonly field: string | undefined

  constructor(status: number, body: { error?: RefusedBody }) {
    super(forPeople(body.error?.message ?? `The server answered ${status}.`, body.error?.field))
    this.status = status
    this.code = body.error?.code ?? ''
    this.advice = adviceForPage(body.error?.try)
    this.worktrees = body.error?.worktrees ?? []
    this.field = body.error?.field
  }
}

/** The server could not be reached. */
export class Unreachable extends Error {
  readonly advice = 'Try again once it is back. A request that already arrived is not carried out twice.'

  constructor() {
    super('The server does not answer.')
  }
}

export interface Asking {
  signal?: AbortSignal
  /** The same command sent again with the same key is carried out once. */
  key?: string
}

/** Browsers keep at most 64 kB of requests alive for a page that is closed, all together. */
const SHORT_CHARS = 8000

export async function ask<N extends Name>(name: N, input: Input<N>, asking: Asking = {}): Promise<Output<N>> {
  const request = requestFor(routes[name]!, input)
  const { method, address, body } = request
  const options = {
    method,
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(asking.key && { 'idempotency-key': asking.key }),
    },
    body,
    signal: asking.signal,
    // A command that is sent while the page closes still arrives.
    keepalive: asking.key !== undefined && (body?.length ?? 0) <= SHORT_CHARS,
  }
  const response = await provenFetch(address, options, takeReady(request)).catch(error => {
    throw asking.signal?.aborted ? error : new Unreachable()
  })
  if (!response.ok) throw new Refused(response.status, await response.json().catch(() => ({})))
  // A response that was cut off is no answer.
  return response.json().catch(error => {
    throw asking.signal?.aborted ? error : new Unreachable()
  })
}

const ready = new Map<string, { proof: string; since: number }>()
/** The server accepts a proof for one minute. */
const READY_MS = 45_000

/**
 * Signs a request in advance, because there is no time to sign while a page closes. The message to the person comes
 * afterwards, so that the request is sent even if they leave at once.
 */
export async function getReady<N extends Name>(name: N, input: Input<N>): Promise<void> {
  const request = requestFor(routes[name]!, input)
  const proof = await proofOf(request.method, request.address, request.body).catch(() => undefined)
  if (proof) ready.set(JSON.stringify(request), { proof, since: Date.now() })
}

/** Each proof is used once. */
function takeReady(request: Request): string | undefined {
  const said = JSON.stringify(request)
  const found = ready.get(said)
  ready.delete(said)
  return found && Date.now() - found.since < READY_MS ? found.proof : undefined
}

/** The address of an operation for GET: for streams and links. */
export const addressOf = <N extends Name>(name: N, input: Input<N>): string => requestFor(routes[name]!, input).address

/** Only pages served over TLS or from this machine have crypto.randomUUID. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('')
