import { createHash, createHmac, createPublicKey, randomBytes, verify } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { Unauthorized } from '../domain/errors.ts'
import { type DeviceKey, isLetIn } from '../domain/records/device.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { same } from '../platform/tokens.ts'
import { StaleProof } from './refusals.ts'

/**
 * How a browser shows that it asks: not by a cookie, which browsers hand to every port of a machine, but by a signature
 * over this one request. `Authorization: Fleet-Proof <device>.<ms>.<nonce>.<digest of the body>.<signature>`; what is
 * signed is in `signedText`, and pages/proof.js signs it.
 */
export interface Proofs {
  /** What a page must know to sign: for this run of the server only. */
  challenge(): Challenge
  /** The device that signed, and what it says the body is; undefined: this is no proof. Each is taken once. */
  check(request: FastifyRequest): Promise<Proven | undefined>
}

export interface Challenge {
  home: string
  epoch: string
  now: number
}

export interface Proven {
  device: string
  /** SHA-256 of the body, base64url; empty: there is none. */
  digest: string
}

/** How far the time in a proof may be off; for as long a proof is remembered, so that none is taken twice. */
const WINDOW_MS = 60_000
/** Remembered proofs beyond this number mean a flood; then new ones wait for the window to pass. */
const MOST_REMEMBERED = 200_000
const PROOF = /^Fleet-Proof ([\w:-]{1,80})\.(\d{1,16})\.([\w-]{16,32})\.([\w-]{43})?\.([\w-]{43,90})$/

/** A new one for each run of a server: what was signed for another program on this port, or an earlier run, is void. */
export function openProofs(fleet: Fleet): Proofs {
  const epoch = randomBytes(12).toString('base64url')
  const used = new UsedOnce()
  const now = () => Date.parse(fleet.now())
  const challenge = (): Challenge => ({ home: fleet.home.id, epoch, now: now() })
  return {
    challenge,
    async check({ method, url, headers }) {
      const [, device, time, nonce, digest = '', signature] = PROOF.exec(headers.authorization ?? '') ?? []
      if (!device || !time || !nonce || !signature) return undefined
      const record = (await fleet.store.get('devices', device))?.value
      if (!isLetIn(record, fleet.now())) throw signedOut()
      const at = { ...challenge(), now: Number(time) }
      const text = signedText(at, { device, nonce, method, url, digest })
      // Whatever is not signed for this run may be signed for another; its page is told what to sign.
      if (!isSignedWith(record.key, text, signature) || Math.abs(now() - Number(time)) > WINDOW_MS)
        throw new StaleProof(challenge())
      if (!used.take(`${device}.${nonce}`, now())) throw new Unauthorized('This request was made before.')
      return { device, digest }
    },
  }
}

const signedOut = (): Unauthorized =>
  new Unauthorized('This browser is signed out.', {
    try: 'Sign in again with the link that fleet up --detach prints.',
  })

export const signedText = (
  { home, epoch, now }: Challenge,
  asked: { device: string; nonce: string; method: string; url: string; digest: string },
): string =>
  ['fleet-proof', home, epoch, asked.device, now, asked.nonce, asked.method, asked.url, asked.digest].join('\n')

export const digestOf = (body: string): string => createHash('sha256').update(body).digest('base64url')

function isSignedWith(key: DeviceKey, text: string, signature: string): boolean {
  if (key.kind === 'shared')
    return same(createHmac('sha256', Buffer.from(key.value, 'base64url')).update(text).digest('base64url'), signature)
  const publicKey = publicKeyOf(key.value)
  const bytes = Buffer.from(signature, 'base64url')
  return (
    publicKey !== undefined && verify('sha256', Buffer.from(text), { key: publicKey, dsaEncoding: 'ieee-p1363' }, bytes)
  )
}

/** A point of the curve as browsers export it: 4, x, y. Undefined: it is none. */
export function publicKeyOf(value: string): ReturnType<typeof createPublicKey> | undefined {
  const bytes = Buffer.from(value, 'base64url')
  if (bytes.length !== 65 || bytes[0] !== 4) return undefined
  const [x, y] = [bytes.subarray(1, 33), bytes.subarray(33)].map(part => part.toString('base64url'))
  try {
    return createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
  } catch {
    return undefined
  }
}

/** Remembers names for two windows at most, in two halves that are thrown away in turn. */
class UsedOnce {
  #older = new Set<string>()
  #newer = new Set<string>()
  #since = 0

  /** False: it was taken before, or too many were. */
  take(name: string, nowMs: number): boolean {
    if (nowMs - this.#since > 2 * WINDOW_MS) {
      this.#older = nowMs - this.#since > 4 * WINDOW_MS ? new Set() : this.#newer
      this.#newer = new Set()
      this.#since = nowMs
    }
    if (this.#older.has(name) || this.#newer.has(name) || this.#newer.size >= MOST_REMEMBERED) return false
    this.#newer.add(name)
    return true
  }
}
