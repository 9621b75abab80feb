import * as z from 'zod'
import { Id, Timestamp } from './ids.ts'

/** A browser that was let in by a link of its own; its cookie names it, so that it alone can be shut out again. */
export const Device = z.object({
  id: Id.describe('that of the link, which therefore works once'),
  name: z.string().max(100),
  user_agent: z.string().max(300).describe('as the browser says of itself'),
  signed_in_at: Timestamp,
  expires_at: Timestamp,
  /** It stays on record: its link must not work again. */
  signed_out_at: Timestamp.nullable().default(null),
})
export type Device = z.infer<typeof Device>

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
