import { createHash, createHmac, createPublicKey, randomBytes, verify } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { Unauthorized } from '../domain/errors.ts'
import { type DeviceKey, isLetIn } from '../domain/records/device.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { same } from '../platform/keys.ts'
import { StaleProof } from './refusals.ts'

/**
 * How a browser proves that it sends a request: not with a cookie, which browsers send to every port of a machine, but
 * with a signature over this one request. `Authorization: Fleet-Proof <device>.<ms>.<nonce>.<digest of the
 * body>.<signature>`; `signedText` is what is signed, and pages/proof.js signs it.
 */
export interface Proofs {
  /** What a page must know to sign: valid for this run of the server only. */
  challenge(): Challenge
  /** The device that signed, and its digest of the body; undefined: this is not a proof. Each proof is accepted once. */
  check(request: FastifyRequest): Promise<Proven | undefined>
}

export interface Challenge {
  home: string
  epoch: string
  now: number
}

export interface Proven {
  device: string
  /** SHA-256 of the body, base64url; empty if there is none. */
  digest: string
}

/**
 * How far the time in a proof may be off. Proofs are remembered for at least twice as long, so none is accepted twice.
 */
const WINDOW_MS = 60_000
/** More remembered proofs than this mean a flood; then new ones are refused until the window has passed. */
const MOST_REMEMBERED = 200_000
/** The same for one person, so that nobody uses up what others need. It is more than they may send. */
const MOST_OF_ONE = 20_000
const PROOF = /^Fleet-Proof ([\w:-]{1,80})\.(\d{1,16})\.([\w-]{16,32})\.([\w-]{43})?\.([\w-]{43,90})$/

/** New for each run of a server: a signature for another program on this port, or an earlier run, is not valid. */
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
      // It may be signed for another run. The answer tells the page what to sign.
      if (!isSignedWith(record.key, text, signature) || Math.abs(now() - Number(time)) > WINDOW_MS)
        throw new StaleProof(challenge())
      if (!used.take(`${device}.${nonce}`, record.principal_id, now()))
        throw new Unauthorized('This request was already used.')
      return { device, digest }
    },
  }
}

export const signedOut = (): Unauthorized =>
  new Unauthorized('This browser is signed out.', {
    try: 'Sign in again with the link that fleet up --detach prints.',
  })

export const signedText = (
  { home, epoch, now }: Challenge,
  asked: { device: string; nonce: string; method: string; url: string; digest: string },
): string =>
  ['fleet-proof', home, epoch, asked.device, now, asked.nonce, asked.method, asked.url, asked.digest].join('\n')

export const digestOf = (body: string): string => createHash('sha256').update(body).digest('base64url')

export function isSignedWith(key: DeviceKey, text: string, signature: string): boolean {
  if (key.kind === 'shared')
    return same(createHmac('sha256', Buffer.from(key.value, 'base64url')).update(text).digest('base64url'), signature)
  const publicKey = publicKeyOf(key.value)
  const bytes = Buffer.from(signature, 'base64url')
  return (
    publicKey !== undefined && verify('sha256', Buffer.from(text), { key: publicKey, dsaEncoding: 'ieee-p1363' }, bytes)
  )
}

/** A point of the curve as browsers export it: 4, x, y. Undefined if it is not one. */
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

/** Remembers each name for at least two windows, the time in which a proof is valid. Two halves are dropped in turn. */
export class UsedOnce {
  #older = new Set<string>()
  #newer = new Set<string>()
  #newerOf = new Map<string, number>()
  #since = 0

  /** False if it was taken before, or if there are too many. `whose`: null is the owner. */
  take(name: string, whose: string | null, nowMs: number): boolean {
    if (nowMs - this.#since > 2 * WINDOW_MS) {
      this.#older = nowMs - this.#since > 4 * WINDOW_MS ? new Set() : this.#newer
      this.#newer = new Set()
      this.#newerOf = new Map()
      this.#since = nowMs
    }
    const own = whose === null ? 0 : (this.#newerOf.get(whose) ?? 0)
    if (own >= MOST_OF_ONE) return false
    if (this.#older.has(name) || this.#newer.has(name) || this.#newer.size >= MOST_REMEMBERED) return false
    this.#newer.add(name)
    if (whose !== null) this.#newerOf.set(whose, own + 1)
    return true
  }
}
