import { createECDH, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
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
  /** By which push services know this home (VAPID), base64url. A browser subscribes to messages of one such key. */
  pushKey(): Promise<PushKey>
  /** Texts that no log may contain. */
  secrets(): Promise<readonly string[]>
}

export interface PushKey {
  publicKey: string
  privateKey: string
}

/** In the folder of the home. */
export const KEY_FILES: readonly string[] = ['token', 'key', 'push-key']

/** The file with the owner's token, for people who use it in a shell. */
export const ownerTokenFile = (home: string): string => join(home, 'token')

/** 32 bytes: a shorter key would make signatures easier to forge. */
const KEY = /^[0-9a-f]{64}$/
const newToken = (): string => randomBytes(24).toString('base64url')
const newKey = (): string => randomBytes(32).toString('hex')
function newPushKey(): string {
  const pair = createECDH('prime256v1')
  pair.generateKeys()
  return pair.getPrivateKey('hex').padStart(64, '0')
}

/** The keys of a home, today in files of its own. Anyone who can read these is its owner. */
export const openKeys = ({ path }: { path: string }): Keys =>
  keysOf(
    madeOnce(ownerTokenFile(path), { make: newToken, form: /^\S{16,500}$/ }),
    madeOnce(join(path, 'key'), { make: newKey, form: KEY }),
    madeOnce(join(path, 'push-key'), { make: newPushKey, form: KEY }),
  )

/** Keys that exist only as long as this process. */
export const memoryKeys = (): Keys => keysOf(newToken(), newKey(), newPushKey())

function keysOf(token: string, key: string, pushKey: string): Keys {
  const bytes = Buffer.from(key, 'hex')
  const sign = async (text: string) => createHmac('sha256', bytes).update(text).digest('base64url')
  return {
    ownerToken: async () => token,
    sign,
    isSigned: async (text, signature) => same(await sign(text), signature),
    pushKey: async () => pushKeyOf(pushKey),
    secrets: async () => [token, key, pushKey],
  }
}

function pushKeyOf(key: string): PushKey {
  const pair = createECDH('prime256v1')
  pair.setPrivateKey(key, 'hex')
  const privateKey = Buffer.from(key, 'hex').toString('base64url')
  return { publicKey: pair.getPublicKey().toString('base64url'), privateKey }
}

/** Takes the same time wherever the two differ. */
export function same(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
