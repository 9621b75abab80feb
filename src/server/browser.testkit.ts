import { createHash, createHmac, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import type { OutgoingHttpHeaders } from 'node:http'
import { type Answer, raw } from './server.testkit.ts'

/** A browser that signs in and sends requests, written independently from what src/server/proof.ts says. */
export interface TestBrowser {
  device: string
  /** Sends a request as the page does. */
  ask(method: string, path: string, options?: Asking): Promise<Answer>
  /** Only the header, for tests that tamper with the rest. */
  proof(method: string, path: string, bent?: Bent): Promise<string>
}

interface Asking {
  body?: unknown
  headers?: OutgoingHttpHeaders
  proof?: string
}

interface Bent {
  body?: string
  /** Milliseconds to add to get the server's time. */
  late?: number
  epoch?: string
  nonce?: string
}

export type Key = { kind: 'p256' | 'shared'; value: string }

/** Signs in with a link or a token; undefined if it was refused. */
export async function aBrowser(
  url: string,
  token: string,
  { headers = {}, kind = 'p256' as Key['kind'] } = {},
): Promise<{ answer: Answer; browser: TestBrowser }> {
  const made = kind === 'p256' ? pair() : secret()
  const answer = await raw(
    url,
    'POST',
    '/sign-in',
    { 'content-type': 'application/json', origin: url, ...headers },
    { token, key: made.key },
  )
  const device = answer.json?.device as string
  const proof: TestBrowser['proof'] = async (method, path, bent = {}) => {
    const { json: server } = await raw(url, 'GET', '/sign-in/challenge', {})
    const time = server.now + (bent.late ?? 0)
    const nonce = bent.nonce ?? randomBytes(12).toString('base64url')
    const digest = bent.body ? createHash('sha256').update(bent.body).digest('base64url') : ''
    const text = `fleet-proof\n${server.home}\n${bent.epoch ?? server.epoch}\n${device}\n${time}\n${nonce}\n${method}\n${path}\n${digest}`
    return `Fleet-Proof ${device}.${time}.${nonce}.${digest}.${made.sign(text)}`
  }
  const ask: TestBrowser['ask'] = async (method, path, { body, headers: more = {}, proof: given } = {}) => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const authorization = given ?? (await proof(method, path, { body: text }))
    const type = text === undefined ? {} : { 'content-type': 'application/json' }
    const headers = Object.entries({ authorization, origin: url, ...type, ...more })
    return raw(url, method, path, Object.fromEntries(headers.filter(([, value]) => value !== undefined)), text)
  }
  return { answer, browser: { device, ask, proof } }
}

export function pair(): { key: Key; sign(text: string): string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { key: { kind: 'p256', value: pointOf(publicKey) }, sign: text => signed(privateKey, text) }
}

const signed = (key: KeyObject, text: string): string =>
  sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')

function pointOf(key: KeyObject): string {
  const { x, y } = key.export({ format: 'jwk' })
  return Buffer.concat([Buffer.from([4]), Buffer.from(x!, 'base64url'), Buffer.from(y!, 'base64url')]).toString(
    'base64url',
  )
}

function secret(): { key: Key; sign(text: string): string } {
  const bytes = randomBytes(32)
  const value = bytes.toString('base64url')
  return {
    key: { kind: 'shared', value },
    sign: text => createHmac('sha256', bytes).update(text).digest('base64url'),
  }
}

/** The secret part of a sign-in address. */
export const tokenIn = (link: string): string => new URL(link).searchParams.get('token')!
