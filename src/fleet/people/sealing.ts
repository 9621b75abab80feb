import { createCipheriv, createDecipheriv, createHash, createHmac } from 'node:crypto'
import { InvalidInput } from '../../domain/errors.ts'
import type { Keys } from '../../platform/keys.ts'

/**
 * Cursors of the store count everything, also what somebody may not see. A sealed cursor tells its reader nothing. The
 * same cursor is always sealed alike, because readers compare them.
 */
export interface Seal {
  close(cursor: string): string
  /** Throws if it was not sealed here. */
  open(sealed: string): string
}

const CIPHER = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16
/** The length of a cursor would tell how many events there are. */
const BLOCK_CHARS = 32

export async function sealOf(keys: Keys): Promise<Seal> {
  const [key, mark] = await Promise.all(
    ['key of sealed cursors', 'mark of sealed cursors'].map(async use =>
      createHash('sha256')
        .update(await keys.sign(use))
        .digest(),
    ),
  )
  return {
    close(cursor) {
      const padded = cursor.padEnd(Math.ceil(cursor.length / BLOCK_CHARS) * BLOCK_CHARS)
      const iv = createHmac('sha256', mark!).update(cursor).digest().subarray(0, IV_BYTES)
      const cipher = createCipheriv(CIPHER, key!, iv)
      const text = Buffer.concat([cipher.update(padded, 'utf8'), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url')
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64url')
      try {
        const decipher = createDecipheriv(CIPHER, key!, bytes.subarray(0, IV_BYTES))
        decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
        const text = bytes.subarray(IV_BYTES + TAG_BYTES)
        return Buffer.concat([decipher.update(text), decipher.final()])
          .toString('utf8')
          .trimEnd()
      } catch {
        throw new InvalidInput('cursor', 'is not one that you were given', { try: 'Start again without it.' })
      }
    },
  }
}
