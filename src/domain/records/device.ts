import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'

/**
 * What a browser proves itself with. `p256`: its public half (a point, base64url); the private half never leaves that
 * browser. `shared`: a secret that the browser's page can read, where browsers offer nothing better: at an address
 * that is neither encrypted nor this machine's own.
 */
export const DeviceKey = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('p256'), value: z.string().regex(/^[\w-]{87}$/) }),
  z.strictObject({ kind: z.literal('shared'), value: z.string().regex(/^[\w-]{43}$/) }),
])
export type DeviceKey = z.infer<typeof DeviceKey>

/** A browser that is signed in. */
export const Device = z.object({
  id: Id.describe('that of the link it came by, which therefore works once'),
  name: z.string().max(100),
  user_agent: z.string().max(300).describe('as the browser says of itself'),
  signed_in_at: Timestamp,
  expires_at: Timestamp,
  /** It stays on record: its link must not work again. */
  signed_out_at: Timestamp.nullable().default(null),
  /** Absent in records of a version that took a cookie for enough: such a browser signs in anew. */
  key: DeviceKey.nullable().default(null),
  via: z.enum(['link', 'token']).default('link').describe('how it was let in'),
})
export type Device = z.infer<typeof Device>

/** Whether it is let in now. */
export const isLetIn = (device: Device | undefined, now: string): device is Device & { key: DeviceKey } =>
  device?.key != null && device.signed_out_at === null && device.expires_at > now

const SYSTEMS = ['iPhone', 'iPad', 'Android', 'Windows', 'Macintosh', 'Linux']
const BROWSERS: [string, RegExp][] = [
  ['Edge', /\bEdg(A|iOS)?\//],
  ['Firefox', /\b(Firefox|FxiOS)\//],
  ['Chrome', /\b(Chrome|CriOS)\//],
  ['Safari', /\bSafari\//],
]

/** What a person would call it, as far as the browser tells. */
export function deviceName(userAgent: string): string {
  const system = SYSTEMS.find(name => userAgent.includes(name))
  const [browser] = BROWSERS.find(([, pattern]) => pattern.test(userAgent)) ?? []
  return [system, browser].filter(Boolean).join(', ') || 'a browser'
}
