/**
 * How notifications and shipped plugins reach servers elsewhere: with a limit on time and tries, and never at a private
 * address unless it is allowed.
 */
import { type LookupAddress, lookup } from 'node:dns'
import { request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { BlockList, isIP } from 'node:net'
import { setTimeout as passed } from 'node:timers/promises'

const PRIVATE = new BlockList()
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const)
  PRIVATE.addSubnet(net, bits, 'ipv4')
for (const [net, bits] of [
  ['::', 96],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
  // Ranges that embed an address of the other kind.
  ['::ffff:0:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2001::', 32],
  ['2002::', 16],
] as const)
  PRIVATE.addSubnet(net, bits, 'ipv6')

export const isPrivate = (address: string): boolean =>
  isIP(address) === 0 || PRIVATE.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')

export interface Post {
  url: string
  body: string | Buffer
  headers?: Record<string, string>
  allowPrivate?: boolean
  /** For one try. */
  limitMs?: number
  /** The pause before the second try; it doubles before each further one. */
  backOffMs?: number
  tries?: number
  signal?: AbortSignal
}

export interface Answered {
  status: number
  text: string
}

const MAX_ANSWER_BYTES = 1024 * 1024

/** The first answer; throws once all tries have failed, and at once if another try would not help. */
export async function post(wanted: Post): Promise<Answered> {
  const { tries = 5, backOffMs = 500 } = wanted
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await postOnce(wanted)
      if (answer.status < 300) return answer
      throw new Unheard(`It answered ${answer.status}.`, answer.status === 429 || answer.status >= 500)
    } catch (error) {
      if (attempt >= tries || (error instanceof Unheard && !error.again)) throw error
      await passed(backOffMs * 2 ** (attempt - 1))
    }
  }
}

/** `again`: another try may help. */
export class Unheard extends Error {
  readonly again: boolean
  constructor(message: string, again: boolean) {
    super(message)
    this.again = again
  }
}

/** One try. The answer may have any status; throws if there is none. Redirects are not followed. */
export function postOnce({
  url,
  body,
  headers,
  allowPrivate = false,
  limitMs = 5000,
  signal,
}: Post): Promise<Answered> {
  const target = new URL(url)
  const host = target.hostname.replace(/^\[|\]$/g, '')
  if (!allowPrivate && isIP(host) && isPrivate(host)) return Promise.reject(refused(host))
  const limit = AbortSignal.timeout(limitMs)
  return new Promise((resolve, reject) => {
    const send = target.protocol === 'https:' ? tlsRequest : plainRequest
    const request = send(
      target,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers },
        // Checked when it connects, so that a name cannot resolve differently a moment later.
        ...(!allowPrivate && { lookup: publicOnly }),
        signal: signal ? AbortSignal.any([limit, signal]) : limit,
      },
      response => {
        const chunks: Buffer[] = []
        let size = 0
        response.on('data', (chunk: Buffer) => {
          size += chunk.length
          if (size <= MAX_ANSWER_BYTES) chunks.push(chunk)
          else response.destroy(new Unheard('The answer is too long.', false))
        })
        response.on('end', () =>
          resolve({ status: response.statusCode!, text: Buffer.concat(chunks).toString('utf8') }),
        )
        response.on('error', reject)
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}

export const refused = (host: string): Unheard =>
  new Unheard(`${host} is a private address; "allow_private": true in its settings allows it.`, false)

type Found = (error: Error | null, address: string | LookupAddress[], family?: number) => void

/** For a connection: finds no address of a private network. */
export function publicOnly(host: string, options: object, found: Found): void {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    if (error) return found(error, [])
    if (addresses.some(({ address }) => isPrivate(address))) return found(refused(host), [])
    if ((options as { all?: boolean }).all) found(null, addresses)
    else found(null, addresses[0]!.address, addresses[0]!.family)
  })
}
