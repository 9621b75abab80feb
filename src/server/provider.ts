import type { FastifyInstance } from 'fastify'
import { InvalidInput, Unauthorized } from '../domain/errors.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { personFrom } from '../fleet/people/provided.ts'
import { hasProvider, isProviderOnly, Provider, requireProvided } from '../fleet/people/provider.ts'
import { admitBrowser, keyIn } from './auth.ts'
import type { Limits } from './limits.ts'
import type { Log } from './log.ts'
import { requireOrigin } from './origin.ts'
import { isSignedWith, type Proofs } from './proof.ts'
import { noteSignIn } from './signing-in.ts'

const OPEN = { config: { open: true } }
/** Where the provider sends browsers back to. It is registered there. */
export const PROVIDER_PAGE = '/sign-in/provider'
const MOST_CHARS = 8000

/** Whether people may use a password, and the name of the provider. Both are on the sign-in page. */
export const waysIn = (fleet: Fleet): { passwords: boolean; provider: string } => ({
  passwords: !isProviderOnly(fleet),
  provider: hasProvider(fleet) ? fleet.settings.oidcName : '',
})

export const requirePasswords = (fleet: Fleet): void => requireProvided(fleet, { provider: null }, 'a password')

interface Parts {
  fleet: Fleet
  proofs: Proofs
  limits: Limits
  log: Log
  /** Called for the browser that was signed in before in the same window. */
  leave(device: string): Promise<void>
}

/** Sign-in with OpenID Connect. The page at PROVIDER_PAGE is the sign-in page; its script finishes. */
export function addProvider(app: FastifyInstance, { fleet, proofs, limits, log, leave }: Parts): void {
  const provider = new Provider(fleet)

  app.post(PROVIDER_PAGE, OPEN, async (request, reply) => {
    requireOrigin(request)
    limits.requireProviderStart(request.ip)
    const { key } = (request.body ?? {}) as Record<string, unknown>
    return reply.send(await provider.begin(keyIn(key, request), `${request.headers.origin}${PROVIDER_PAGE}`))
  })

  app.post(`${PROVIDER_PAGE}/finish`, OPEN, async (request, reply) => {
    requireOrigin(request)
    const { search, signature } = (request.body ?? {}) as Record<string, unknown>
    if (typeof search !== 'string' || typeof signature !== 'string' || search.length > MOST_CHARS)
      throw new InvalidInput('search', 'must be what the provider added to the address')
    const before = await proofs.check(request).catch(() => undefined)
    const finished = await provider
      .finish(search, (key, text) => isSignedWith(key, text, signature))
      .catch(error => {
        if (error instanceof Unauthorized) limits.noteFailedSignIn(request.ip)
        // The person is told little. Who runs the server finds out what is wrong with the provider.
        if (error.cause) log.warn({ reason: reasonsOf(error.cause) }, 'sign-in with the provider failed')
        throw error
      })
    const principal = await personFrom(fleet, finished.provided)
    const { 'user-agent': userAgent = '' } = request.headers
    const device = await admitBrowser(fleet, principal, { key: finished.key, userAgent, via: 'provider' })
    if (before) await leave(before.device)
    await noteSignIn(fleet, request, device.id)
    return reply.send({ device: device.id })
  })
}

/** Only messages and codes: what an error carries besides may hold what the provider sent. */
function reasonsOf(cause: unknown): string {
  if (!(cause instanceof Error)) return ''
  const { error = '' } = cause as { error?: unknown }
  return [cause.message, String(error), reasonsOf(cause.cause)].filter(Boolean).join(': ')
}
