import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'

/**
 * How a browser proves who it is. `p256`: with its public key (a point, base64url); the private key never leaves that
 * browser. `shared`: with a secret that the page can read. Browsers offer nothing better at an address that is neither
 * encrypted nor on this machine.
 */
export const DeviceKey = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('p256'), value: z.string().regex(/^[\w-]{87}$/) }),
  z.strictObject({ kind: z.literal('shared'), value: z.string().regex(/^[\w-]{43}$/) }),
])
export type DeviceKey = z.infer<typeof DeviceKey>

/** Where and with which keys its push service takes messages for this browser, and since when they are sent. */
export const PushSubscription = z.object({
  endpoint: z.string().max(1000),
  p256dh: z.string().regex(/^[\w-]{87}$/),
  auth: z.string().regex(/^[\w-]{22}$/),
  since: Timestamp,
})
export type PushSubscription = z.infer<typeof PushSubscription>

/** A browser that is signed in. */
export const Device = z.object({
  id: Id.describe('the id of its sign-in link, so that a link works once'),
  name: z.string().max(100),
  user_agent: z.string().max(300).describe('what the browser calls itself'),
  signed_in_at: Timestamp,
  expires_at: Timestamp,
  /** The record stays after signing out, because its link must not work again. */
  signed_out_at: Timestamp.nullable().default(null),
  /** Records of a version that accepted a cookie alone have no key. Such a browser signs in again. */
  key: DeviceKey.nullable().default(null),
  via: z.enum(['link', 'token', 'password', 'provider']).default('link').describe('how it was let in'),
  push: PushSubscription.nullable().default(null),
  principal_id: Id.nullable().default(null).describe('whose browser it is; empty: the owner of the home'),
  epoch: z.number().int().default(0).describe('the epoch of that person when it signed in'),
})
export type Device = z.infer<typeof Device>

/** Whether it may enter now. */
export const isLetIn = (device: Device | undefined, now: string): device is Device & { key: DeviceKey } =>
  device?.key != null && device.signed_out_at === null && device.expires_at > now

const SYSTEMS = ['iPhone', 'iPad', 'Android', 'Windows', 'Macintosh', 'Linux']
const BROWSERS: [string, RegExp][] = [
  ['Edge', /\bEdg(A|iOS)?\//],
  ['Firefox', /\b(Firefox|FxiOS)\//],
  ['Chrome', /\b(Chrome|CriOS)\//],
  ['Safari', /\bSafari\//],
]

/** A name for people, made from what the browser says. */
export function deviceName(userAgent: string): string {
  const system = SYSTEMS.find(name => userAgent.includes(name))
  const [browser] = BROWSERS.find(([, pattern]) => pattern.test(userAgent)) ?? []
  return [system, browser].filter(Boolean).join(', ') || 'a browser'
}
