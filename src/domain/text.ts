import * as z from 'zod'

/** Long text lives in a blob; a record keeps its beginning. */
export const StoredText = z.union([
  z.object({ inline: z.string() }),
  z.object({ blob: z.string(), bytes: z.number(), head: z.string() }),
])
export type StoredText = z.infer<typeof StoredText>

export const INLINE_TEXT_BYTES = 8 * 1024

/** The longest reason that a record holds. */
export const MAX_REASON_CHARS = 4000
export const MAX_CAUSE_CHARS = 2000

/**
 * The beginning of a text, as long as its field allows. A list of a thousand files must not make a record too large to
 * write.
 */
export const clipped = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max - 1)}…` : text)

export const headOf = (text: StoredText): string => ('inline' in text ? text.inline : text.head)

/**
 * Text of an agent or a stranger for a commit message: git refuses a NUL, and other control characters mean nothing
 * there.
 */
export const withoutControls = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\t\n]/gu, '')
