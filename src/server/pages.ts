import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Forbidden } from '../domain/errors.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { VERSION } from '../version.ts'
import { signIn } from './auth.ts'

// Beside this file in the sources and beside the bundle in dist.
const FOLDER = join(import.meta.dirname, 'pages')
const page = (name: string): string => readFileSync(join(FOLDER, name), 'utf8')

const HTML = 'text/html; charset=utf-8'
const PAGES = { '/': 'status.html', '/docs': 'docs.html' }
const FILES = {
  'style.css': 'text/css; charset=utf-8',
  'dom.js': 'text/javascript; charset=utf-8',
  'status.js': 'text/javascript; charset=utf-8',
  'docs.js': 'text/javascript; charset=utf-8',
}

export const signedOutPage = (): string => page('signed-out.html')

/** What a browser loads. The pages hold no data of their own: they ask for it as everyone else does. */
export function addPages(app: FastifyInstance, { fleet, tls }: { fleet: Fleet; tls: boolean }): void {
  app.get('/health', { config: { open: true } }, async () => ({ status: 'ok', version: VERSION }))

  const signedOut = signedOutPage()
  app.get('/sign-in', { config: { open: true, page: true } }, async (request, reply) => {
    const { token } = request.query as { token?: unknown }
    const cookie = typeof token === 'string' ? signIn(fleet, token, tls) : undefined
    if (!cookie) return reply.code(401).type(HTML).send(signedOut)
    // On to an address without the secret in it.
    return reply.header('set-cookie', cookie).redirect('/', 303)
  })

  for (const [path, name] of Object.entries(PAGES)) {
    const text = page(name)
    app.get(path, { config: { page: true } }, async (request, reply) => {
      requireOwner(request)
      return reply.type(HTML).send(text)
    })
  }
  for (const [name, type] of Object.entries(FILES)) {
    const text = page(name)
    app.get(`/pages/${name}`, { config: { open: true } }, async (_, reply) => reply.type(type).send(text))
  }
}

function requireOwner(request: FastifyRequest): void {
  if (request.asker?.caller.kind !== 'owner')
    throw new Forbidden('Pages are for people; the token of a session opens none.')
}
