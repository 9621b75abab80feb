import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { madeOnce } from './made-once.ts'

/**
 * The secrets of a home. `openKeys` chooses where they are, so that a database or another process can hold them later.
 */
export interface Keys {
  /** Gives access to everything. */
  ownerToken(): Promise<string>
  /** Every process of the home signs in the same way, also after a restart, so tokens need not be stored. */
  sign(text: string): Promise<string>
  isSigned(text: string, signature: string): Promise<boolean>
  /** Texts that no log may contain. */
  secrets(): Promise<readonly string[]>
}

/** In the folder of the home. */
export const KEY_FILES: readonly string[] = ['token', 'key']

/** The file with the owner's token, for people who use it in a shell. */
export const ownerTokenFile = (home: string): string => join(home, 'token')

/** 32 bytes: a shorter key would make signatures easier to forge. */
const KEY = /^[0-9a-f]{64}$/
const newToken = (): string => randomBytes(24).toString('base64url')
const newKey = (): string => randomBytes(32).toString('hex')

/** The keys of a home, today in files of its own. Anyone who can read these is its owner. */
export const openKeys = ({ path }: { path: string }): Keys =>
  keysOf(
    madeOnce(ownerTokenFile(path), { make: newToken, form: /^\S{16,500}$/ }),
    madeOnce(join(path, 'key'), { make: newKey, form: KEY }),
  )

/** Keys that exist only as long as this process. */
export const memoryKeys = (): Keys => keysOf(newToken(), newKey())

function keysOf(token: string, key: string): Keys {
  const bytes = Buffer.from(key, 'hex')
  const sign = async (text: string) => createHmac('sha256', bytes).update(text).digest('base64url')
  return {
    ownerToken: async () => token,
    sign,
    isSigned: async (text, signature) => same(await sign(text), signature),
    secrets: async () => [token, key],
  }
}

/** Takes the same time wherever the two differ. */
export function same(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
