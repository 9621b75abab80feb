import * as z from 'zod'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
export const ID_LENGTH = 12

/** Random, so that a few letters tell two records apart wherever a prefix is accepted. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(ID_LENGTH))
  return Array.from(bytes, byte => ALPHABET[byte % ALPHABET.length]).join('')
}

export const shortId = (id: string): string => id.slice(0, 6)

export const Id = z.string().regex(/^[0-9a-z:._-]{1,120}$/, 'an id or the first letters of one')
export const Timestamp = z.iso.datetime()
