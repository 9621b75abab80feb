import type { FastifyRequest } from 'fastify'
import { InvalidInput, NotAllowed, Unauthorized } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { type Device, DeviceKey } from '../domain/records/device.ts'
import { isCurrent, type Principal } from '../domain/records/principal.ts'
import type { Session } from '../domain/records/session.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { isScrapeToken } from '../fleet/metrics/scrape-token.ts'
import { admitDevice } from '../fleet/people/devices.ts'
import { idInJwt, looksLikeJwt } from '../fleet/people/jwt.ts'
import { MAX_PASSWORD_CHARS, personWith } from '../fleet/people/passwords.ts'
import { requireProvided } from '../fleet/people/provider.ts'
import { holderOf, holderWith } from '../fleet/people/tokens.ts'
import { current } from '../fleet/records.ts'
import { whoLetIn } from '../fleet/terminals/outside.ts'
import type { Caller } from '../operations/operation.ts'
import { holdsOneOf } from '../operations/roles.ts'
import { same } from '../platform/keys.ts'
import { deviceOf, sessionOf } from '../platform/tokens.ts'
import { isLoopback } from './origin.ts'
import { type Proofs, publicKeyOf, signedOut } from './proof.ts'

/** The caller, and how they proved it. */
export interface Asker {
  caller: Caller
  by: 'token' | 'proof'
  /** The digest of the body that the browser signed. */
  digest?: string
}

const BROWSER_LASTS_MS = 30 * 24 * 3600_000

export async function whoAsks(fleet: Fleet, proofs: Proofs, request: FastifyRequest): Promise<Asker> {
  const { authorization } = request.headers
  const proven = await proofs.check(request)
  if (proven) return { caller: await callerWith(fleet, proven.device), by: 'proof', digest: proven.digest }
  if (authorization !== undefined) return { caller: await callerOf(fleet, authorization), by: 'token' }
  throw new Unauthorized(hasOldCookie(fleet, request) ? 'A cookie is not enough.' : 'This needs a token.', {
    try: "Send Authorization: Bearer <the content of the home's token file>, or sign the browser in with the link that fleet up --detach prints.",
  })
}

/** Whose browser it is. */
export async function callerWith(fleet: Fleet, deviceId: string): Promise<Caller> {
  const device = (await current(fleet, 'devices', deviceId)).value
  if (device.principal_id === null) return { kind: 'owner', device: deviceId }
  const principal = (await fleet.store.get('principals', device.principal_id))?.value
  if (!isCurrent(principal, device.epoch, fleet.now())) throw signedOut()
  return { ...namedIn(principal), limit: null, device: deviceId }
}

export const namedIn = ({ kind, id, name, grants }: Principal): Pick<Principal, 'kind' | 'id' | 'name' | 'grants'> => ({
  ...{ kind, id, name, grants },
})

/** Whose token this is. */
export async function callerOf(fleet: Fleet, authorization: string): Promise<Caller> {
  const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? ''
  if (same(token, await fleet.keys.ownerToken())) return { kind: 'owner' }
  const held = looksLikeJwt(token) ? await holderOfJwt(fleet, token) : await holderOf(fleet, token)
  if (held) {
    const { grants: limit, id, expires_at, via, team_id } = held.token
    if (!held.principal) return { kind: 'owner', token: id, expires_at }
    const caller = { ...namedIn(held.principal), limit, token: id, expires_at }
    // What was exchanged is for an agent, so it is no person, whoever gave their credential for it.
    return via === 'exchange'
      ? { ...caller, kind: 'service', forAgent: true, ...(team_id && { team: team_id }) }
      : caller
  }
  if (await isScrapeToken(fleet, token)) return { kind: 'monitor' }
  const named = await sessionOf(fleet.keys, token)
  const session = named && (await fleet.store.get('sessions', named.id))?.value
  if (!session)
    throw new Unauthorized('This token is not valid here.', { try: 'Each home has its own token; check FLEET_HOME.' })
  if (session.status === 'ended') throw new Unauthorized(`Session ${session.id} has ended, and its token with it.`)
  if ((named?.generation ?? 0) < session.tokens_from)
    throw new Unauthorized(`Session ${session.id} was claimed by another host; this token belongs to the earlier host.`)
  if (session.reason === 'outside') await requireLetIn(fleet, session)
  return { kind: 'session', session_id: session.id, mission_id: session.mission_id, project_id: session.project_id }
}

/** Nobody stays in a team by a session that they let in: it ends with them, their token and their role. */
async function requireLetIn(fleet: Fleet, session: Session): Promise<void> {
  const by = await whoLetIn(fleet, session)
  const team = session.member_id ? (await fleet.store.get('members', session.member_id))?.value.team_id : undefined
  if (by === null || (by && holdsOneOf(by.grants, ['teams.manage'], session.project_id, team))) return
  throw new Unauthorized(`Whoever took session ${session.id} into its team may not do that any more.`, {
    try: 'Ask for it to join again.',
  })
}

async function holderOfJwt(fleet: Fleet, jwt: string): ReturnType<typeof holderOf> {
  const id = await idInJwt(fleet, jwt)
  return id === undefined ? undefined : holderWith(fleet, id, jwt)
}

/** Signs in a browser that has a link or the owner's token; undefined: it has neither, or the link was used. */
export async function signIn(
  fleet: Fleet,
  {
    token,
    key,
    userAgent,
    before,
    replace,
  }: { token: string; key: DeviceKey; userAgent: string; before?: string; replace?: boolean },
): Promise<{ device: string } | undefined> {
  const now = Date.parse(fleet.now())
  const byToken = same(token, await fleet.keys.ownerToken())
  const invited = byToken ? { id: newId(), name: '' } : await deviceOf(fleet.keys, token, now)
  if (!invited) return undefined
  const person = invited.principal && (await fleet.store.get('principals', invited.principal.id))?.value
  // An invitation is void once its person was signed out everywhere, or ended.
  if (invited.principal && !isCurrent(person, invited.principal.epoch, fleet.now())) return undefined
  if (person) requireProvided(fleet, person, 'a link')
  if (before !== undefined && !replace) await requireSamePerson(fleet, before, invited.principal?.id ?? null)
  const device = await admitDevice(fleet, invited, {
    userAgent,
    key,
    via: byToken ? 'token' : 'link',
    expiresAt: new Date(now + BROWSER_LASTS_MS).toISOString(),
  })
  return device && { device: device.id }
}

/** Signs in a browser of a person. Undefined: the name and password do not go together. */
export async function signInWithPassword(
  fleet: Fleet,
  { name, password }: { name: string; password: string },
  { key, userAgent }: { key: DeviceKey; userAgent: string },
): Promise<{ device: string } | undefined> {
  if (password.length > MAX_PASSWORD_CHARS) return undefined
  const principal = await personWith(fleet, name, password)
  return principal && { device: (await admitBrowser(fleet, principal, { key, userAgent, via: 'password' })).id }
}

/** Signs in a browser of somebody who has proved who they are. */
export async function admitBrowser(
  fleet: Fleet,
  principal: Principal,
  browser: { key: DeviceKey; userAgent: string; via: Device['via'] },
): Promise<Device> {
  const expiresAt = new Date(Date.parse(fleet.now()) + BROWSER_LASTS_MS).toISOString()
  // Its id is new, so no link was used before.
  return (await admitDevice(fleet, { id: newId(), name: '', principal }, { ...browser, expiresAt }))!
}

/** A link that somebody sends must not quietly make a browser theirs that is signed in as somebody else. */
async function requireSamePerson(fleet: Fleet, before: string, principalId: string | null): Promise<void> {
  const device = (await fleet.store.get('devices', before))?.value
  if (device && device.principal_id !== principalId)
    throw new NotAllowed('This browser is signed in as somebody else.', { try: 'Sign out first, or switch.' })
}

/** The key that identifies a browser. A key that its page can read is accepted only where browsers offer no other. */
export function keyIn(body: unknown, { headers }: FastifyRequest): DeviceKey {
  const { success, data: key } = DeviceKey.safeParse(body)
  if (!success || (key.kind === 'p256' && !publicKeyOf(key.value)))
    throw new InvalidInput('key', 'is not a key that identifies a browser')
  if (key.kind === 'shared' && !isInsecure(headers.origin))
    throw new InvalidInput('key', 'must be a key that only the browser itself can use at this address')
  return key
}

/** Browsers offer keys that cannot be copied only at https addresses and on the machine itself. */
function isInsecure(origin: string | undefined): boolean {
  const at = origin && URL.parse(origin)
  return Boolean(at && at.protocol === 'http:' && !isLoopback(at.hostname.replace(/^\[|\]$/g, '')))
}

/** Set by earlier versions, which accepted a cookie. */
const cookieName = (fleet: Fleet): string => `fleet_${fleet.home.id}`

export const hasOldCookie = (fleet: Fleet, { headers }: FastifyRequest): boolean =>
  (headers.cookie ?? '').split(';').some(pair => pair.trim().startsWith(`${cookieName(fleet)}=`))

export const dropOldCookie = (fleet: Fleet): string =>
  `${cookieName(fleet)}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`
