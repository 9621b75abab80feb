import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { VIEWS } from '../../web/src/views.ts'
import { Unauthorized } from '../domain/errors.ts'
import type { Ask } from '../fleet/commands.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { signOutDevice } from '../fleet/people/devices.ts'
import { revokeToken } from '../fleet/people/tokens.ts'
import { actorNamed } from '../operations/inputs.ts'
import { deviceOf, tokenOf } from '../operations/operation.ts'
import type { ErrorPages } from './answers.ts'
import { dropOldCookie, hasOldCookie, keyIn, signIn, signInWithPassword } from './auth.ts'
import { type Asset, readDashboard } from './dashboard.ts'
import { dashboardPolicy } from './headers.ts'
import type { Limits } from './limits.ts'
import type { Log } from './log.ts'
import type { Proofs } from './proof.ts'
import { addProvider, PROVIDER_PAGE, requirePasswords, waysIn } from './provider.ts'
import { auditedRequest, noteSignIn } from './signing-in.ts'

// Beside this file in the sources, or beside the bundle in dist.
const FOLDER = join(import.meta.dirname, 'pages')
const page = (name: string): string => readFileSync(join(FOLDER, name), 'utf8')

const HTML = 'text/html; charset=utf-8'
const FILES = {
  'style.css': 'text/css; charset=utf-8',
  'dom.js': 'text/javascript; charset=utf-8',
  'docs.js': 'text/javascript; charset=utf-8',
  'sign-in.js': 'text/javascript; charset=utf-8',
  'device.js': 'text/javascript; charset=utf-8',
  'provider.js': 'text/javascript; charset=utf-8',
  'proof.js': 'text/javascript; charset=utf-8',
  'sha256.js': 'text/javascript; charset=utf-8',
}
const OPEN = { config: { open: true } }
const OPEN_PAGE = { config: { open: true, page: true } }

/** Pages sent instead of an answer. What a page must know to sign in is filled in each time. */
export const errorPages = (fleet: Fleet, proofs: Proofs): ErrorPages => {
  const nothingHere = page('nothing-here.html')
  const signedOut = signInPage(fleet, proofs)
  return { signedOut: () => signedOut(''), nothingHere: () => nothingHere }
}

const withChallenge = (text: string, proofs: Proofs): string => {
  const { home, epoch, now } = proofs.challenge()
  return text.replace('%SERVER%', `${home} ${epoch} ${now}`)
}

/** `why`: the reason for signing in that only the server knows. */
function signInPage(fleet: Fleet, proofs: Proofs): (why: '' | 'cookie') => string {
  const text = page('signed-out.html')
  return why => {
    const { passwords, provider } = waysIn(fleet)
    return withChallenge(text, proofs)
      .replace('%WHY%', why)
      .replace('%PASSWORDS%', passwords ? 'on' : 'off')
      .replace('%PROVIDER%', () => inAttribute(provider))
  }
}

const inAttribute = (text: string): string => text.replace(/[&<>"']/g, letter => `&#${letter.charCodeAt(0)};`)

interface Parts {
  fleet: Fleet
  proofs: Proofs
  limits: Limits
  log: Log
}

/** The files a browser loads. No document holds data: pages request it like every client, and prove who asks. */
export function addPages(app: FastifyInstance, { fleet, proofs, limits, log }: Parts): void {
  addSignIn(app, { fleet, proofs, limits, log })

  for (const name of ['docs', 'device']) {
    const text = page(`${name}.html`)
    app.get(`/${name}`, OPEN_PAGE, async (_, reply) => reply.type(HTML).send(withChallenge(text, proofs)))
  }
  for (const [name, type] of Object.entries(FILES)) {
    const text = page(name)
    app.get(`/pages/${name}`, OPEN, async (_, reply) => reply.type(type).send(text))
  }
  addDashboard(app, proofs)
}

function addSignIn(app: FastifyInstance, { fleet, proofs, limits, log }: Parts): void {
  const signedOut = signInPage(fleet, proofs)
  const leave = async (device: string, by = fleet) => signOutDevice(by, await signOutBy(by, device), device)
  addProvider(app, { fleet, proofs, limits, log, leave })
  app.get(PROVIDER_PAGE, OPEN_PAGE, async (_, reply) => reply.type(HTML).send(signedOut('')))
  // Opening it does not use up the link: its page sends the link's token together with the key it made.
  app.get('/sign-in', OPEN_PAGE, async (request, reply) => {
    const hadCookie = hasOldCookie(fleet, request)
    if (hadCookie) reply.header('set-cookie', dropOldCookie(fleet))
    return reply.type(HTML).send(signedOut(hadCookie ? 'cookie' : ''))
  })
  app.get('/sign-in/challenge', OPEN, async () => proofs.challenge())
  app.post('/sign-in', OPEN, async (request, reply) => {
    const { token, key, name, password, replace } = (request.body ?? {}) as Record<string, unknown>
    const { 'user-agent': userAgent = '' } = request.headers
    // A browser that was already signed in is still one browser.
    const before = await proofs.check(request).catch(() => undefined)
    const known = keyIn(key, request)
    const browser = { key: known, userAgent, before: before?.device, replace: replace === true }
    const isNamed = typeof name === 'string' && typeof password === 'string'
    if (isNamed) requirePasswords(fleet)
    if (isNamed) limits.requirePasswordTry(request.ip, name)
    const admitted = isNamed
      ? await signInWithPassword(fleet, { name, password }, browser)
      : typeof token === 'string'
        ? await signIn(fleet, { token, ...browser })
        : undefined
    if (!admitted && isNamed) throw new Unauthorized('This name and password do not go together.')
    if (!admitted) {
      limits.noteFailedSignIn(request.ip)
      throw new Unauthorized('This is not the token of this fleet.', {
        try: 'Copy the whole content of the file named token in its home, without the line end.',
      })
    }
    if (isNamed) limits.notePassword(request.ip, name)
    if (before) await leave(before.device)
    await noteSignIn(fleet, request, admitted.device)
    return reply.send(admitted)
  })
  app.post('/sign-out', async (request, reply) => {
    const { caller } = request.asker!
    const [device, token] = [deviceOf(caller), tokenOf(caller)]
    await auditedRequest('sign_out', { fleet, caller, request }, { device_id: device, token_id: token }, async seen => {
      if (device) await leave(device, seen)
      if (token) await revokeToken(seen, { operation: 'revoke_token', actor: actorNamed(caller) }, token)
    })
    return reply.code(204).send()
  })
}

/** The person whose browser it is signs it out. */
async function signOutBy(fleet: Fleet, deviceId: string): Promise<Ask> {
  const principalId = (await fleet.store.get('devices', deviceId))?.value.principal_id
  return { operation: 'sign_out_device', actor: principalId ? `person:${principalId}` : 'person' }
}

/** The dashboard: its files, and its one document at the address of every view. */
function addDashboard(app: FastifyInstance, proofs: Proofs): void {
  const { document, assets } = readDashboard()
  for (const asset of assets) app.get(asset.path, OPEN, async (request, reply) => sendAsset(request, reply, asset))
  for (const view of VIEWS)
    app.get(view, OPEN_PAGE, async (_, reply) => {
      const nonce = randomBytes(16).toString('base64')
      const text = withChallenge(document, proofs).replace('%STYLE_NONCE%', nonce)
      return reply.header('content-security-policy', dashboardPolicy(nonce)).type(HTML).send(text)
    })
}

function sendAsset({ headers }: FastifyRequest, reply: FastifyReply, asset: Asset): FastifyReply {
  const accepted = headers['accept-encoding'] ?? ''
  const encoding = (['br', 'gzip'] as const).find(each => accepted.includes(each) && asset.encoded[each])
  if (encoding) reply.header('content-encoding', encoding)
  // A file with a hash in its name never changes.
  if (asset.isImmutable) reply.header('cache-control', 'public, max-age=31536000, immutable')
  return reply
    .header('vary', 'accept-encoding')
    .type(asset.type)
    .send(encoding ? asset.encoded[encoding] : asset.content())
}
