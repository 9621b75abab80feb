import type { FastifyRequest } from 'fastify'
import { Unauthorized } from '../domain/errors.ts'
import { admitDevice, isSignedIn } from '../fleet/devices.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { Caller } from '../operations/operation.ts'
import { browserOf, browserToken, deviceOf, isLinkToken, same, sessionOf } from '../tokens.ts'

/** Who asks, and how they showed it: a browser adds its cookie to whatever page asks, so that proves less. */
export interface Asker {
  caller: Caller
  by: 'header' | 'cookie'
}

const BROWSER_LASTS_SECONDS = 30 * 24 * 3600

export async function whoAsks(fleet: Fleet, request: FastifyRequest): Promise<Asker> {
  const { authorization, cookie } = request.headers
  if (authorization !== undefined) return { caller: await callerOf(fleet, authorization), by: 'header' }
  const value = cookieNamed(cookieName(fleet), cookie)
  const browser = value ? browserOf(fleet.home, value, nowMs(fleet)) : undefined
  if (browser && (!browser.device || (await isSignedIn(fleet, browser.device))))
    return { caller: { kind: 'owner', ...browser }, by: 'cookie' }
  throw new Unauthorized('This needs a token.', {
    try: "Send Authorization: Bearer <the content of the home's token file>, or sign the browser in with the link that fleet up --detach prints.",
  })
}

async function callerOf(fleet: Fleet, authorization: string): Promise<Caller> {
  const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? ''
  if (same(token, fleet.home.token)) return { kind: 'owner' }
  const sessionId = sessionOf(fleet.home, token)
  const session = sessionId === undefined ? undefined : (await fleet.store.get('sessions', sessionId))?.value
  if (!session)
    throw new Unauthorized('This token is not valid here.', { try: 'Each home has its own token; check FLEET_HOME.' })
  if (session.status === 'ended') throw new Unauthorized(`Session ${session.id} has ended, and its token with it.`)
  return { kind: 'session', session_id: session.id, mission_id: session.mission_id, project_id: session.project_id }
}

/** The cookie to set for a browser that came with a sign-in link or the owner's token; undefined: with neither. */
export async function signIn(
  fleet: Fleet,
  token: string,
  { secure, userAgent }: { secure: boolean; userAgent: string },
): Promise<string | undefined> {
  const now = nowMs(fleet)
  const expires = now + BROWSER_LASTS_SECONDS * 1000
  const invited = deviceOf(fleet.home, token, now)
  const device =
    invited && (await admitDevice(fleet, invited, { userAgent, expiresAt: new Date(expires).toISOString() }))
  if (!device && !isLinkToken(fleet.home, token, now) && !same(token, fleet.home.token)) return undefined
  const value = browserToken(fleet.home, expires, device?.id)
  const attributes = `Path=/; Max-Age=${BROWSER_LASTS_SECONDS}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
  return `${cookieName(fleet)}=${value}; ${attributes}`
}

/** Takes the cookie away again. */
export const signOut = (fleet: Fleet): string => `${cookieName(fleet)}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`

// Browsers share cookies between ports, so two homes on one machine need two names.
const cookieName = (fleet: Fleet): string => `fleet_${fleet.home.id}`
const nowMs = (fleet: Fleet): number => Date.parse(fleet.now())

function cookieNamed(name: string, header = ''): string | undefined {
  const pairs = header.split(';').map(pair => pair.trim())
  return pairs.find(pair => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}
