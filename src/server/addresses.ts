import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'
import { InvalidInput } from '../domain/errors.ts'

/** Whether a proxy at this address is believed when it says whose request it passes on. */
export type Trusted = (address: string) => boolean

const MAPPED = /^::ffff:(?=\d+\.)/i

/** Addresses such as `10.0.0.5`, and networks such as `10.0.0.0/8`. Nobody is trusted unless named. */
export function trustedAt(places: readonly string[]): Trusted {
  const list = new BlockList()
  for (const place of places) {
    const [address = '', prefix] = place.split('/')
    const version = isIP(address)
    const bits = prefix === undefined ? undefined : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1
    const isInside = bits === undefined || (bits >= 0 && bits <= (version === 4 ? 32 : 128))
    if (!version || !isInside)
      throw new InvalidInput('trust-proxy', `is no address and no network: ${place}`, {
        try: 'Name the address from which the proxy connects, such as 127.0.0.1 or 10.0.0.0/8.',
      })
    const family = version === 4 ? 'ipv4' : 'ipv6'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, bits, family)
  }
  return address => {
    const version = isIP(address)
    return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6')
  }
}

/** Where a connection comes from: the last address in front of the proxies that are trusted. */
export function addressOf({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>, isTrusted: Trusted) {
  const said = String(headers['x-forwarded-for'] ?? '').split(',')
  const way = [socket.remoteAddress ?? '', ...said.map(each => each.trim()).reverse()].filter(Boolean)
  return way.find(address => !isTrusted(address)) ?? way.at(-1)
}

/** Who has one IPv6 address has all of its network, so these count as one. */
export function neighbourhood(address: string): string {
  const bare = address
    // Some proxies add the port.
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
    .replace(MAPPED, '')
    .replace(/%.*$/, '')
  if (!isIPv6(bare)) return bare
  const [left = [], right] = bare.split('::').map(part => part.split(':').filter(Boolean))
  const groups = right ? [...left, ...Array(8 - left.length - right.length).fill('0'), ...right] : left
  return `${groups
    .slice(0, 4)
    .map(group => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
