import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import type { SigningKey } from '../../platform/keys.ts'
import type { Fleet } from '../fleet.ts'

/** What a JWT of this fleet says. Whether it still counts, its record says: `jti` is its id. */
export interface Claims {
  sub: string
  jti: string
  handle: string
  role: string
  team: string | null
  epoch: number
}

const ALGORITHM = 'EdDSA'
const issuerOf = ({ home }: Fleet): string => `urn:flotilla:${home.id}`
/** The same as the issuer: only this fleet itself reads them. */
const audienceOf = issuerOf

/** What PKCS #8 puts before the 32 bytes of an Ed25519 key. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const privateKeyOf = ({ seed }: SigningKey): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8, Buffer.from(seed, 'hex')]), format: 'der', type: 'pkcs8' })

const published = (key: SigningKey) => {
  const { kty, crv, x } = createPublicKey(privateKeyOf(key)).export({ format: 'jwk' })
  return { kty: kty!, crv: crv!, x: x!, kid: key.kid, alg: ALGORITHM, use: 'sig' }
}

/** The public halves, for whoever wants to verify a JWT. */
export async function publishedKeys(fleet: Fleet): Promise<{ keys: ReturnType<typeof published>[] }> {
  return { keys: (await fleet.keys.signingKeys()).map(published) }
}

export async function signJwt(fleet: Fleet, claims: Claims, expiresAt: string): Promise<string> {
  const { SignJWT } = await import('./sign-in-libraries.ts')
  const [key] = await fleet.keys.signingKeys()
  const { sub, jti, ...more } = claims
  return new SignJWT({ ...more })
    .setProtectedHeader({ alg: ALGORITHM, kid: key!.kid, typ: 'JWT' })
    .setIssuer(issuerOf(fleet))
    .setAudience(audienceOf(fleet))
    .setSubject(sub)
    .setJti(jti)
    .setIssuedAt(Math.floor(Date.parse(fleet.now()) / 1000))
    .setExpirationTime(Math.floor(Date.parse(expiresAt) / 1000))
    .sign(privateKeyOf(key!))
}

export const looksLikeJwt = (token: string): boolean => /^eyJ[\w-]*\.[\w-]*\.[\w-]*$/.test(token)

/** The id of the record of a JWT that this fleet signed, and that has not expired. */
export async function idInJwt(fleet: Fleet, token: string): Promise<string | undefined> {
  // Anybody can send one: nothing is worked out for a key that is not ours.
  const named = keyNamedIn(token)
  const key = named && (await fleet.keys.signingKeys()).find(({ kid }) => kid === named)
  if (!key) return undefined
  const { jwtVerify } = await import('./sign-in-libraries.ts')
  const options = {
    algorithms: [ALGORITHM],
    issuer: issuerOf(fleet),
    audience: audienceOf(fleet),
    typ: 'JWT',
    requiredClaims: ['exp', 'iat', 'sub', 'jti'],
    currentDate: new Date(fleet.now()),
  }
  return jwtVerify(token, createPublicKey(privateKeyOf(key)), options).then(
    ({ payload }) => payload.jti,
    () => undefined,
  )
}

function keyNamedIn(token: string): string | undefined {
  try {
    const { kid } = JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString())
    return typeof kid === 'string' ? kid : undefined
  } catch {
    return undefined
  }
}
