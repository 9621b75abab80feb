import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { VIEWS } from '../../web/src/views.ts'
import { Forbidden, Unauthorized } from '../domain/errors.ts'
import { signOutDevice } from '../fleet/devices.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { VERSION } from '../version.ts'
import type { ErrorPages } from './answers.ts'
import { signIn, signOut } from './auth.ts'
import { type Asset, readDashboard } from './dashboard.ts'
import { dashboardPolicy } from './guard.ts'

// Beside this file in the sources and beside the bundle in dist.
const FOLDER = join(import.meta.dirname, 'pages')
const page = (name: string): string => readFileSync(join(FOLDER, name), 'utf8')

const HTML = 'text/html; charset=utf-8'
const FILES = {
  'style.css': 'text/css; charset=utf-8',
  'dom.js': 'text/javascript; charset=utf-8',
  'docs.js': 'text/javascript; charset=utf-8',
  'sign-in.js': 'text/javascript; charset=utf-8',
}

export const errorPages = (): ErrorPages => ({
  signedOut: page('signed-out.html'),
  nothingHere: page('nothing-here.html'),
})

/** What a browser loads. The pages hold no data of their own: they ask for it as everyone else does. */
export function addPages(app: FastifyInstance, { fleet, tls }: { fleet: Fleet; tls: boolean }): void {
  app.get('/health', { config: { open: true } }, async () => ({ status: 'ok', version: VERSION }))

  const { signedOut } = errorPages()
  app.get('/sign-in', { config: { open: true, page: true } }, async (request, reply) => {
    const { token } = request.query as { token?: unknown }
    const { 'sec-purpose': purpose = '', 'user-agent': userAgent = '' } = request.headers
    // A browser that only looks ahead would use up a link that works once.
    const looksAhead = String(purpose).includes('prefetch')
    const comes = typeof token === 'string' && !looksAhead
    const cookie = comes ? await signIn(fleet, token, { secure: tls, userAgent }) : undefined
    if (!cookie) return reply.code(401).type(HTML).send(signedOut)
    // On to an address without the secret in it.
    return reply.header('set-cookie', cookie).redirect('/', 303)
  })
  // Not by its address: that is kept in histories and logs.
  app.post('/sign-in', { config: { open: true } }, async (request, reply) => {
    const { token } = (request.body ?? {}) as { token?: unknown }
    const { 'user-agent': userAgent = '' } = request.headers
    const cookie = typeof token === 'string' ? await signIn(fleet, token, { secure: tls, userAgent }) : undefined
    if (!cookie)
      throw new Unauthorized('This is not the token of this fleet.', {
        try: 'Copy the whole of the file named token in its home, without the line end.',
      })
    return reply.header('set-cookie', cookie).code(204).send()
  })
  app.post('/sign-out', async (request, reply) => {
    const { caller } = request.asker!
    const device = caller.kind === 'owner' ? caller.device : undefined
    if (device) await signOutDevice(fleet, { operation: 'sign_out_device', actor: 'person' }, device)
    return reply.header('set-cookie', signOut(fleet)).code(204).send()
  })

  const docs = page('docs.html')
  app.get('/docs', { config: { page: true } }, async (request, reply) => {
    requireOwner(request)
    return reply.type(HTML).send(docs)
  })
  for (const [name, type] of Object.entries(FILES)) {
    const text = page(name)
    app.get(`/pages/${name}`, { config: { open: true } }, async (_, reply) => reply.type(type).send(text))
  }
  addDashboard(app, fleet)
}

/** The dashboard: its files, and its one document at every address that is a view of it. */
function addDashboard(app: FastifyInstance, fleet: Fleet): void {
  const { document, assets } = readDashboard()
  for (const asset of assets)
    app.get(asset.path, { config: { open: true } }, async (request, reply) => sendAsset(request, reply, asset))
  for (const view of VIEWS)
    app.get(view, { config: { page: true } }, async (request, reply) => {
      requireOwner(request)
      const nonce = randomBytes(16).toString('base64')
      // Where the events stand now: what the page reads later is at least as new, so it follows from here.
      const text = document.replace('%STYLE_NONCE%', nonce).replace('%EVENTS_CURSOR%', await fleet.store.tail())
      return reply.header('content-security-policy', dashboardPolicy(nonce)).type(HTML).send(text)
    })
}

function sendAsset({ headers }: FastifyRequest, reply: FastifyReply, asset: Asset): FastifyReply {
  const accepted = headers['accept-encoding'] ?? ''
  const encoding = (['br', 'gzip'] as const).find(each => accepted.includes(each) && asset.encoded[each])
  if (encoding) reply.header('content-encoding', encoding)
  // Names with a hash never mean anything else.
  if (asset.isImmutable) reply.header('cache-control', 'public, max-age=31536000, immutable')
  return reply
    .header('vary', 'accept-encoding')
    .type(asset.type)
    .send(encoding ? asset.encoded[encoding] : asset.content)
}

function requireOwner(request: FastifyRequest): void {
  if (request.asker?.caller.kind !== 'owner')
    throw new Forbidden('Pages are for people; the token of a session opens none.')
}
