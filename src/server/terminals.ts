import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Forbidden, InvalidInput, NotFound } from '../domain/errors.ts'
import { isCurrent } from '../domain/records/principal.ts'
import { clipped } from '../domain/text.ts'
import type { Fleet } from '../fleet/fleet.ts'
import {
  type Allowed,
  POLL_EVERY_SECONDS,
  REQUEST_LASTS_MS,
  TerminalRequests,
} from '../fleet/people/terminal-requests.ts'
import { makeToken } from '../fleet/people/tokens.ts'
import { isPrincipal } from '../operations/authorize.ts'
import { actorNamed } from '../operations/inputs.ts'
import type { Caller } from '../operations/operation.ts'
import { safeLine } from '../platform/safe-text.ts'
import type { Limits } from './limits.ts'
import { isLoopback } from './origin.ts'
import { auditedRequest } from './signing-in.ts'

const OPEN = { config: { open: true } }
const NAME_CHARS = 60
const TOKEN_LASTS_MS = 90 * 24 * 3600_000
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code'

/**
 * Signs terminals on other machines in: the device flow of RFC 8628, with JSON instead of forms. The terminal shows a
 * code, and a person who is signed in at a browser allows it at /device.
 */
export function addTerminals(app: FastifyInstance, { fleet, limits }: { fleet: Fleet; limits: Limits }): void {
  const requests = new TerminalRequests()
  const now = () => Date.parse(fleet.now())

  app.post('/auth/device', OPEN, async (request, reply) => {
    limits.requireTerminalRequest(request.ip)
    const name = clipped(safeLine(textIn(request, 'client_name') || 'a terminal'), NAME_CHARS)
    const { deviceCode, userCode } = requests.begin({ name, address: request.ip, at: fleet.now() }, now())
    const page = `${originOf(request)}/device`
    return reply.send({
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: page,
      verification_uri_complete: `${page}?code=${userCode}`,
      expires_in: REQUEST_LASTS_MS / 1000,
      interval: POLL_EVERY_SECONDS,
    })
  })

  app.post('/auth/device/token', OPEN, async (request, reply) => {
    if (textIn(request, 'grant_type') !== GRANT_TYPE)
      return refuse(reply, 'unsupported_grant_type', `grant_type must be ${GRANT_TYPE}.`)
    const polled = requests.poll(textIn(request, 'device_code'), now())
    if (polled.kind === 'pending') return refuse(reply, 'authorization_pending', 'Nobody has decided yet.')
    if (polled.kind === 'slow_down') return refuse(reply, 'slow_down', 'Ask less often.')
    if (polled.kind === 'denied') return refuse(reply, 'access_denied', 'A person denied it.')
    if (polled.kind === 'expired') {
      limits.noteFailedSignIn(request.ip)
      return refuse(reply, 'expired_token', 'The code was used, or is too old.')
    }
    const token = await tokenFor(fleet, polled.by, polled.name)
    if (!token) return refuse(reply, 'access_denied', 'The person who allowed it has no access any more.')
    return reply.send({ access_token: token, token_type: 'Bearer', expires_in: TOKEN_LASTS_MS / 1000 })
  })

  app.post('/auth/device/find', async (request, reply) => {
    requireBrowser(request)
    limits.requireCodeTry(request.asker!.caller)
    const found = requests.find(textIn(request, 'user_code'), now())
    if (!found) throw unknownCode()
    return reply.send(found)
  })

  app.post('/auth/device/decide', async (request, reply) => {
    requireBrowser(request)
    const { caller } = request.asker!
    limits.requireCodeTry(caller)
    const { allow } = (request.body ?? {}) as { allow?: unknown }
    if (typeof allow !== 'boolean') throw new InvalidInput('allow', 'must be true or false')
    await auditedRequest('decide_terminal', { fleet, caller, request }, {}, async () => {
      const decision = allow ? await allowedBy(fleet, caller) : 'denied'
      if (!requests.decide(textIn(request, 'user_code'), decision, now())) throw unknownCode()
    })
    return reply.send({ allowed: allow })
  })
}

/** The same for a code that never was, was used, or is too old: nobody learns which. */
const unknownCode = (): NotFound =>
  new NotFound('terminal that waits with the code', '…', { try: 'Check the code, or run fleet login again.' })

/** In the form that RFC 8628 gives errors. */
const refuse = (reply: FastifyReply, error: string, error_description: string): FastifyReply =>
  reply.code(400).send({ error, error_description })

function textIn({ body }: FastifyRequest, field: string): string {
  const value = (body as Record<string, unknown> | null | undefined)?.[field]
  return typeof value === 'string' ? value.slice(0, 500) : ''
}

/** Who only has a token must not turn it into another one this way. */
function requireBrowser({ asker }: FastifyRequest): void {
  if (asker?.by !== 'proof')
    throw new Forbidden('A terminal is let in by a person at a browser.', { try: 'Open /device in a browser.' })
}

async function allowedBy({ store }: Fleet, caller: Caller): Promise<Allowed> {
  const actor = actorNamed(caller)
  if (!isPrincipal(caller)) return { principal: null, actor }
  const { id, epoch } = (await store.get('principals', caller.id))!.value
  return { principal: { id, epoch }, actor }
}

/** Made only now, so that no secret waits for a terminal that never asks. */
async function tokenFor(fleet: Fleet, { principal, actor }: Allowed, name: string): Promise<string | undefined> {
  const person = principal && (await fleet.store.get('principals', principal.id))?.value
  if (principal && !isCurrent(person ?? undefined, principal.epoch, fleet.now())) return undefined
  const expires_at = new Date(Date.parse(fleet.now()) + TOKEN_LASTS_MS).toISOString()
  const wanted = { name: `terminal ${name}`, grants: null, expires_at, via: 'terminal' as const }
  return (await makeToken(fleet, { operation: 'sign_in_terminal', actor }, person ?? null, wanted)).token
}

/** A name that is neither an address nor of this machine belongs to a proxy that does TLS for us. */
function originOf({ protocol, headers }: FastifyRequest): string {
  const host = headers.host ?? ''
  const bare = host.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')
  const isDirect = isLoopback(bare) || /^[\d.]+$/.test(bare) || bare.includes(':')
  return `${protocol === 'https' || !isDirect ? 'https' : 'http'}://${host}`
}
