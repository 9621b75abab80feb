import { createHmac, timingSafeEqual } from 'node:crypto'
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

function holds(home: Home, token: string, kind: 'browser' | 'link', nowMs: number): boolean {
  const text = verified(home, token)
  return !!text?.startsWith(`${kind}.`) && Number(text.slice(kind.length + 1)) > nowMs
}

/** What a signed-in browser's cookie holds. */
export const browserToken = (home: Home, expiresMs: number): string => signed(home, `browser.${expiresMs}`)
export const isBrowserToken = (home: Home, token: string, nowMs: number): boolean =>
  holds(home, token, 'browser', nowMs)

const LINK_LASTS_MS = 10 * 60_000

/** An address that signs a browser in. It ends up in shell histories and screenshots, so it soon stops working. */
export const signInUrl = (home: Home, serverUrl: string, nowMs: number): string =>
  `${serverUrl}/sign-in?token=${signed(home, `link.${nowMs + LINK_LASTS_MS}`)}`
export const isLinkToken = (home: Home, token: string, nowMs: number): boolean => holds(home, token, 'link', nowMs)
