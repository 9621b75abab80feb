import * as z from 'zod'

/** Long text lives in a blob; a record keeps its beginning. */
export const StoredText = z.union([
  z.object({ inline: z.string() }),
  z.object({ blob: z.string(), bytes: z.number(), head: z.string() }),
])
export type StoredText = z.infer<typeof StoredText>

export const INLINE_TEXT_BYTES = 8 * 1024

/** How long the sentences are that say why something is as it is. */
export const MAX_REASON_CHARS = 4000
export const MAX_CAUSE_CHARS = 2000

/** The beginning of a text that may be longer than its place: a list of a thousand files must not keep a record from being written. */
export const clipped = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max - 1)}…` : text)

export const headOf = (text: StoredText): string => ('inline' in text ? text.inline : text.head)

/** Text of an agent or a stranger as a commit message can hold it: git refuses a NUL, and other control characters say nothing. */
export const withoutControls = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\t\n]/gu, '')
