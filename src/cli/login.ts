import { hostname, userInfo } from 'node:os'
import { setTimeout as passed } from 'node:timers/promises'
import { InvalidInput, NotAllowed, Unreachable } from '../domain/errors.ts'
import { safeLine } from '../platform/safe-text.ts'
import type { Cli } from './command.ts'
import { forgetLogin, isThisMachine, type Login, loginsFile, loginTo, originOf, saveLogin } from './logins.ts'

interface Begun {
  device_code: string
  user_code: string
  expires_in: number
  interval: number
}
interface Answered {
  status: number
  body: Record<string, unknown>
}

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code'
const SLOWER_BY_SECONDS = 5
const PATIENCE_MS = 15_000

/** Signs this terminal in at a fleet on another machine: a person allows it in their browser. */
export async function logIn(
  cli: Cli,
  { url, name, insecure }: { url: string; name: string | undefined; insecure: boolean },
): Promise<undefined> {
  const { terminal, where } = cli
  const fleet = requireAddress(url, insecure)
  const begun = (await send(fleet, '/auth/device', { client_name: name ?? nameOfThis() })).body as unknown as Begun
  if (typeof begun.user_code !== 'string' || typeof begun.device_code !== 'string') throw notAFleet(fleet)
  const code = safeLine(begun.user_code)
  terminal.note(`Open ${fleet}/device?code=${encodeURIComponent(code)}`)
  terminal.note(`and check that it shows the code ${terminal.paint('bold', code)}. Waiting for you to allow it …`)
  const login = { url: fleet, token: await tokenFor(fleet, begun) }
  saveLogin(where.env, login)
  const me = await whoIs(login)
  terminal.tell({ url: fleet, name: me, file: loginsFile(where.env) }, () => {
    terminal.print(`Signed in to ${fleet} as ${terminal.foreign(me)}.`)
    terminal.note('Commands at this terminal ask that fleet now. Use --home <folder> for one on this machine.')
  })
}

/** Ends the token at the server, and forgets it here even if the server does not answer. */
export async function logOut({ terminal, where }: Cli, url: string | undefined): Promise<undefined> {
  const login = loginTo(where.env, url)
  if (!login)
    throw new NotAllowed(url ? `This terminal is not signed in to ${url}.` : 'This terminal is signed in nowhere.')
  const answer = await send(login.url, '/sign-out', undefined, login.token).catch(() => undefined)
  forgetLogin(where.env, login.url)
  // Refused: it was revoked before.
  const revoked = answer !== undefined && (answer.status < 300 || answer.status === 401)
  terminal.tell({ url: login.url, revoked }, () => {
    terminal.print(`Signed out of ${login.url}.`)
    if (!revoked)
      terminal.note('The server did not answer, so the token is still valid there. Revoke it under Account.')
  })
}

const nameOfThis = (): string => `${userInfo().username}@${hostname()}`

function requireAddress(url: string, insecure: boolean): string {
  const at = URL.parse(/^https?:\/\//.test(url) ? url : `https://${url}`)
  if (!at || at.username || at.password)
    throw new InvalidInput('url', 'is not the address of a fleet', { try: 'fleet login https://fleet.example.com' })
  if (at.protocol === 'http:' && !isThisMachine(at.href) && !insecure)
    throw new NotAllowed('The connection would not be encrypted: everybody on the way could read the token.', {
      try: `Use https, or --insecure inside a VPN such as WireGuard or Tailscale.`,
    })
  return originOf(at.href)
}

/** Asks until a person has decided, as often as the server allows. */
async function tokenFor(fleet: string, { device_code, expires_in, interval }: Begun): Promise<string> {
  const until = Date.now() + expires_in * 1000
  for (let seconds = interval; Date.now() < until; ) {
    await passed(seconds * 1000)
    // A server that is away for a moment may be back before the code has expired.
    const asked = send(fleet, '/auth/device/token', { grant_type: GRANT_TYPE, device_code })
    const { body } = await asked.catch(() => ({ body: { error: 'authorization_pending' } as Answered['body'] }))
    if (typeof body.access_token === 'string') return body.access_token
    if (body.error === 'slow_down') seconds += SLOWER_BY_SECONDS
    else if (body.error === 'access_denied') throw new NotAllowed('The person denied it.')
    else if (body.error !== 'authorization_pending') break
  }
  throw new NotAllowed('Nobody allowed it in time, or the server was restarted.', { try: 'fleet login again' })
}

async function whoIs({ url, token }: Login): Promise<string> {
  const { body } = await send(url, '/api/me', undefined, token, 'GET')
  return typeof body.name === 'string' ? body.name : 'somebody'
}

async function send(url: string, path: string, body?: object, token?: string, method = 'POST'): Promise<Answered> {
  const response = await fetch(new URL(path, url), {
    method,
    redirect: 'error',
    signal: AbortSignal.timeout(PATIENCE_MS),
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(token && { authorization: `Bearer ${token}` }),
    },
    ...(body && { body: JSON.stringify(body) }),
  }).catch(cause => {
    throw new Unreachable(`The server at ${url} cannot be reached.`, {
      try: 'Check the address, and that this machine trusts its certificate.',
      cause,
    })
  })
  const text = await response.text()
  if (response.status === 204) return { status: 204, body: {} }
  try {
    const answer = JSON.parse(text) as Answered['body']
    const refusal = answer.error as { message?: string } | string | undefined
    if (typeof refusal === 'object' && response.status !== 401)
      throw new NotAllowed(`${url} says: ${safeLine(refusal.message ?? '')}`)
    return { status: response.status, body: answer }
  } catch (error) {
    throw error instanceof NotAllowed ? error : notAFleet(url)
  }
}

const notAFleet = (url: string): Unreachable =>
  new Unreachable(`The program at ${url} is not a fleet that signs terminals in.`)
