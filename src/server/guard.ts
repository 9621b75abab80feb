import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Forbidden, Unauthorized } from '../domain/errors.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { noteRefusal } from '../operations/auditing.ts'
import { type Asker, whoAsks } from './auth.ts'
import { fromOf } from './from.ts'
import type { Limits } from './limits.ts'
import { type OwnNames, requireOrigin, requireOwnHost, requireOwnOrigin } from './origin.ts'
import type { Proofs } from './proof.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the guard has accepted the request; absent on addresses that are open to everyone. */
    asker: Asker | undefined
    /** The digest of the received body; absent if there was none. */
    bodyDigest: string | undefined
  }
  interface FastifyContextConfig {
    /** Needs no token: health, readiness, sign-in, and documents and files that hold no data. */
    open?: boolean
    /** For programs: a browser's proof is not accepted. */
    tokenOnly?: boolean
    /** A page for people: links from elsewhere may lead to it, and a refusal is a page too. */
    page?: boolean
  }
}

const policy = (styles: string): string =>
  `default-src 'none'; script-src 'self'; style-src ${styles}; img-src 'self' data:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** Styles that hide the native scroll bars of Radix's scroll area and select; they cannot have a nonce. */
const RADIX_STYLES = [
  'sha256-vGQdhYJbTuF+M8iCn1IZCHpdkiICocWHDq4qnQF4Rjw=',
  'sha256-441zG27rExd4/il+NvIqyL8zFx5XmyNQtE381kSkUJk=',
]

/** For the dashboard, whose components add a few lines of style. */
export const dashboardPolicy = (nonce: string): string =>
  policy(['self', `nonce-${nonce}`, ...RADIX_STYLES].map(source => `'${source}'`).join(' '))

const SECURITY_HEADERS = {
  'content-security-policy': policy("'self'"),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
}

/** Protects every address, including unknown ones. */
export function guard(app: FastifyInstance, fleet: Fleet, proofs: Proofs, limits: Limits, own: () => OwnNames): void {
  app.decorateRequest('asker', undefined)
  app.decorateRequest('bodyDigest', undefined)
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(SECURITY_HEADERS)
    const { open = false, page = false, tokenOnly = false, forMonitors = false } = request.routeOptions.config ?? {}
    requireOwnHost(request, own())
    if (!page) requireOwnOrigin(request, own())
    if (open) return
    request.asker = await whoAsks(fleet, proofs, request).catch(error => {
      if (error instanceof Unauthorized) fleet.measurements.strangers++
      throw error
    })
    await requireRate(fleet, limits, request)
    if (request.asker.caller.kind === 'monitor' && !forMonitors)
      throw new Forbidden('A scrape token opens /metrics and /metrics/json only.')
    if (request.asker.by !== 'proof') return
    if (tokenOnly) throw new Forbidden('This address is for programs, which send a token.')
    if (isWrite(request)) requireOrigin(request)
  })
  // Only now the body is there to compare with what was signed.
  app.addHook('preValidation', async ({ asker, bodyDigest = '' }) => {
    if (asker?.by === 'proof' && asker.digest !== bodyDigest)
      throw new Unauthorized('The body does not match the signature.')
  })
}

/** Who asks too often is in the audit log. */
async function requireRate(fleet: Fleet, limits: Limits, request: FastifyRequest): Promise<void> {
  const { caller } = request.asker!
  try {
    limits.require(caller)
  } catch (error) {
    const { operation = 'mcp' } = request.routeOptions.config ?? {}
    await noteRefusal({ fleet, caller, from: fromOf(request) }, operation, {}, error)
    throw error
  }
}

const isWrite = ({ method }: FastifyRequest): boolean => method !== 'GET' && method !== 'HEAD'
