import { createHmac, timingSafeEqual } from 'node:crypto'
import { newId } from '../domain/ids.ts'
import type { Home } from './home.ts'

/** Signed with the home's key, so that a restarted server knows them without having kept anything. */
function signed(home: Home, text: string): string {
  return `${text}.${createHmac('sha256', home.key).update(text).digest('base64url')}`
}

function verified(home: Home, token: string): string | undefined {
  const text = token.slice(0, Math.max(0, token.lastIndexOf('.')))
  return same(signed(home, text), token) ? text : undefined
}

export function same(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

export const sessionToken = (home: Home, sessionId: string): string => signed(home, `session.${sessionId}`)

export function sessionOf(home: Home, token: string): string | undefined {
  const text = verified(home, token)
  return text?.startsWith('session.') ? text.slice('session.'.length) : undefined
}

/** What a token of this kind says besides when it stops holding; undefined: it does not hold. */
function heldBy(home: Home, token: string, kind: 'device', nowMs: number): string[] | undefined {
  const [is, expires, ...rest] = verified(home, token)?.split('.') ?? []
  return is === kind && Number(expires) > nowMs ? rest : undefined
}

export const LINK_LASTS_MS = 10 * 60_000

/** An address that signs one browser in, once. It ends up in shell histories and screenshots, so it soon stops working. */
export const signInUrl = (home: Home, serverUrl: string, nowMs: number): string =>
  deviceUrl(home, serverUrl, { id: newId(), name: '', expiresMs: nowMs + LINK_LASTS_MS })

/** Whoever comes first with it is that device. */
export const deviceUrl = (
  home: Home,
  serverUrl: string,
  { id, name, expiresMs }: { id: string; name: string; expiresMs: number },
): string =>
  `${serverUrl}/sign-in?token=${signed(home, `device.${expiresMs}.${id}.${Buffer.from(name).toString('base64url')}`)}`

export function deviceOf(home: Home, token: string, nowMs: number): { id: string; name: string } | undefined {
  const [id, name = ''] = heldBy(home, token, 'device', nowMs) ?? []
  return id ? { id, name: Buffer.from(name, 'base64url').toString('utf8') } : undefined
}
