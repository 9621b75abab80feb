import { createECDH, createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { madeOnce } from './made-once.ts'
import { replaceText, textOf } from './whole-files.ts'

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
  /** The keys of JWTs, the newest first. That one signs; with the others, what they signed can still be verified. */
  signingKeys(): Promise<readonly SigningKey[]>
  /** From now on a new key signs. The others stay until nothing that they signed is valid any more. */
  rotateSigningKeys(nowMs: number): Promise<SigningKey>
  /** Texts that no log may contain. */
  secrets(): Promise<readonly string[]>
}

export interface PushKey {
  publicKey: string
  privateKey: string
}

/** Of Ed25519. */
export interface SigningKey {
  kid: string
  /** 32 bytes, hex: all that the key pair is made from. */
  seed: string
}

/** A JWT is valid for at most this long, so a key that signs no more is needed no longer. */
export const MOST_JWT_SECONDS = 24 * 3600

/** In the folder of the home. */
export const KEY_FILES: readonly string[] = ['token', 'key', 'push-key', 'signing-keys']

/** The file with the owner's token, for people who use it in a shell. */
export const ownerTokenFile = (home: string): string => join(home, 'token')

/** 32 bytes: a shorter key would make signatures easier to forge. */
const KEY = /^[0-9a-f]{64}$/
/** A line for each key, the newest first; the others with the time (ms) at which they stopped to sign. */
const SIGNING_KEYS = /^[0-9a-f]{64}(\n[0-9a-f]{64} \d{1,16})*$/
const newToken = (): string => randomBytes(24).toString('base64url')
const newKey = (): string => randomBytes(32).toString('hex')
function newPushKey(): string {
  const pair = createECDH('prime256v1')
  pair.generateKeys()
  return pair.getPrivateKey('hex').padStart(64, '0')
}

/** The keys of a home, today in files of its own. Anyone who can read these is its owner. */
export function openKeys({ path }: { path: string }): Keys {
  const signing = join(path, 'signing-keys')
  const read = () => madeOnce(signing, { make: newKey, form: SIGNING_KEYS })
  read()
  return keysOf(
    madeOnce(ownerTokenFile(path), { make: newToken, form: /^\S{16,500}$/ }),
    madeOnce(join(path, 'key'), { make: newKey, form: KEY }),
    madeOnce(join(path, 'push-key'), { make: newPushKey, form: KEY }),
    // Read each time, because another process may rotate them.
    { read, write: text => void replaceText(signing, textOf(signing), text, 0o600) },
  )
}

/** Keys that exist only as long as this process. */
export function memoryKeys(): Keys {
  let signing = newKey()
  return keysOf(newToken(), newKey(), newPushKey(), {
    read: () => signing,
    write: text => {
      signing = text
    },
  })
}

interface SigningFile {
  read(): string
  write(text: string): void
}

const signingKeysIn = (text: string): SigningKey[] =>
  text.split('\n').map(line => {
    const seed = line.slice(0, 64)
    return { seed, kid: createHash('sha256').update(`kid ${seed}`).digest('base64url').slice(0, 16) }
  })

/** The lines after a rotation. */
function rotated(text: string, nowMs: number): string {
  const [last, ...earlier] = text.split('\n')
  const needed = earlier.filter(line => nowMs - Number(line.slice(65)) <= MOST_JWT_SECONDS * 1000)
  return [newKey(), `${last} ${nowMs}`, ...needed].join('\n')
}

function keysOf(token: string, key: string, pushKey: string, signing: SigningFile): Keys {
  const bytes = Buffer.from(key, 'hex')
  const sign = async (text: string) => createHmac('sha256', bytes).update(text).digest('base64url')
  return {
    ownerToken: async () => token,
    sign,
    isSigned: async (text, signature) => same(await sign(text), signature),
    pushKey: async () => pushKeyOf(pushKey),
    signingKeys: async () => signingKeysIn(signing.read()),
    async rotateSigningKeys(nowMs) {
      signing.write(rotated(signing.read(), nowMs))
      return signingKeysIn(signing.read())[0]!
    },
    secrets: async () => [token, key, pushKey, ...signingKeysIn(signing.read()).map(({ seed }) => seed)],
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
