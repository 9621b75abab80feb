import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Forbidden, Unauthorized } from '../domain/errors.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { noteRefusal } from '../operations/auditing.ts'
import { type Asker, whoAsks } from './auth.ts'
import { fromOf } from './from.ts'
import { SECURITY_HEADERS } from './headers.ts'
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

/** Protects every address, including unknown ones. */
export function guard(app: FastifyInstance, fleet: Fleet, proofs: Proofs, limits: Limits, own: () => OwnNames): void {
  app.decorateRequest('asker', undefined)
  app.decorateRequest('bodyDigest', undefined)
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(SECURITY_HEADERS)
    const {
      open = false,
      page = false,
      tokenOnly = false,
      forMonitors = false,
      operation,
    } = request.routeOptions.config ?? {}
    requireOwnHost(request, own())
    if (!page) requireOwnOrigin(request, own())
    if (open) return
    request.asker = await whoAsks(fleet, proofs, request).catch(error => {
      if (error instanceof Unauthorized) fleet.measurements.strangers++
      throw error
    })
    await limited(fleet, request, () => {
      limits.require(request.asker!.caller)
      if (operation === 'set_password') limits.requirePasswordChange(request.asker!.caller)
      const end = limits.begin(request.asker!.caller)
      // Whoever has gone already is not heard going.
      if (reply.raw.destroyed) end()
      else reply.raw.once('close', end)
    })
    if (request.asker.caller.kind === 'monitor' && !forMonitors)
      throw new Forbidden('A scrape token opens /metrics and /metrics/json only.')
    await limits.turn(request.asker.caller, reply.raw)
    if (request.asker.by !== 'proof') return
    if (tokenOnly) throw new Forbidden('This address is for programs, which send a token.')
    if (isWrite(request)) requireOrigin(request)
  })
  // Only now the body is there to compare with what was signed.
  app.addHook('preValidation', async ({ asker, bodyDigest = '' }) => {
    if (asker?.by === 'proof' && asker.digest !== bodyDigest)
      throw new Unauthorized('The body does not match the signature.')
  })
  // Each message of a batch is a request of its own.
  app.addHook('preValidation', async request => {
    const { asker, body } = request
    if (asker && Array.isArray(body)) await limited(fleet, request, () => limits.require(asker.caller, body.length - 1))
  })
}

/** Who asks too often, or for too much at once, is in the audit log. */
async function limited(fleet: Fleet, request: FastifyRequest, require: () => void): Promise<void> {
  const { caller } = request.asker!
  try {
    require()
  } catch (error) {
    const { operation = 'mcp' } = request.routeOptions.config ?? {}
    await noteRefusal({ fleet, caller, from: fromOf(request) }, operation, {}, error)
    throw error
  }
}

const isWrite = ({ method }: FastifyRequest): boolean => method !== 'GET' && method !== 'HEAD'
