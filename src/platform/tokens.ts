import { newId } from '../domain/ids.ts'
import type { Keys } from './keys.ts'

const signed = async (keys: Keys, text: string): Promise<string> => `${text}.${await keys.sign(text)}`

async function verified(keys: Keys, token: string): Promise<string | undefined> {
  const end = token.lastIndexOf('.')
  const text = token.slice(0, Math.max(0, end))
  return (await keys.isSigned(text, token.slice(end + 1))) ? text : undefined
}

/** For one run of a session on one host. */
export const sessionToken = (keys: Keys, { id, generation }: { id: string; generation: number }): Promise<string> =>
  signed(keys, `session.${id}.${generation}`)

/** Tokens that an earlier version made name no generation. */
export async function sessionOf(keys: Keys, token: string): Promise<{ id: string; generation?: number } | undefined> {
  const [kind, id, generation] = (await verified(keys, token))?.split('.') ?? []
  if (kind !== 'session' || !id) return undefined
  if (generation !== undefined && !/^\d{1,9}$/.test(generation)) return undefined
  return generation === undefined ? { id } : { id, generation: Number(generation) }
}

export const LINK_LASTS_MS = 10 * 60_000
/** Longer, because it is sent to somebody. */
export const INVITATION_LASTS_MS = 7 * 24 * 3600_000

/** An address that signs one browser in, once. It ends up in shell histories and screenshots, so it soon expires. */
export const signInUrl = (keys: Keys, serverUrl: string, nowMs: number): Promise<string> =>
  deviceUrl(keys, serverUrl, { id: newId(), name: '', expiresMs: nowMs + LINK_LASTS_MS })

/** Which device a link makes, and whose; without a principal, the owner's. */
export interface Invited {
  id: string
  name: string
  principal?: { id: string; epoch: number }
}

/** The first browser that uses it is that device. */
export async function deviceUrl(
  keys: Keys,
  serverUrl: string,
  { id, name, expiresMs, principal }: Invited & { expiresMs: number },
): Promise<string> {
  const parts = ['device', expiresMs, id, Buffer.from(name).toString('base64url')]
  const token = await signed(keys, [...parts, ...(principal ? [principal.id, principal.epoch] : [])].join('.'))
  return `${serverUrl}/sign-in?token=${token}`
}

/** Undefined if the token is invalid or has expired. */
export async function deviceOf(keys: Keys, token: string, nowMs: number): Promise<Invited | undefined> {
  const [kind, expires, id, name = '', principal, epoch] = (await verified(keys, token))?.split('.') ?? []
  if (kind !== 'device' || !(Number(expires) > nowMs) || !id) return undefined
  return {
    id,
    name: Buffer.from(name, 'base64url').toString('utf8'),
    ...(principal && { principal: { id: principal, epoch: Number(epoch) } }),
  }
}
