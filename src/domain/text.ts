import * as z from 'zod'

/** Long text lives in a blob; a record keeps its beginning. */
export const StoredText = z.union([
  z.object({ inline: z.string() }),
  z.object({ blob: z.string(), bytes: z.number(), head: z.string() }),
])
export type StoredText = z.infer<typeof StoredText>

export const INLINE_TEXT_BYTES = 8 * 1024

export const headOf = (text: StoredText): string => ('inline' in text ? text.inline : text.head)
