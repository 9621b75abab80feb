import { basename } from 'node:path'
import { InvalidInput } from '../errors.ts'

/** An address that git may clone. `folder` is set for a repository on this machine. */
export interface GitAddress {
  address: string
  folder?: string
}

const SCHEMES = ['https:', 'ssh:', 'git:', 'file:']
const HOST = /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/
const USER = /^[A-Za-z0-9_][\w.-]*$/
const MAX_CHARS = 2000

/**
 * Only the ways that people clone by: https, ssh, git, and files. Anything else could run a program (`ext::`), or be
 * taken as an option of git or ssh.
 */
export function gitAddress(text: string): GitAddress {
  const address = text.trim()
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no address has one
  if (!address || address.length > MAX_CHARS || /[\s\x00-\x1f\x7f]/.test(address) || address.startsWith('-'))
    throw notAnAddress()
  if (address.startsWith('/')) return { address, folder: address }
  if (/^[\w+.-]+:\/\//.test(address)) return withScheme(address)
  return likeScp(address)
}

function withScheme(address: string): GitAddress {
  const url = URL.parse(address)
  if (!url) throw notAnAddress()
  if (!SCHEMES.includes(url.protocol))
    throw new InvalidInput('address', `${url.protocol}// is not supported.`, { try: 'Use https, ssh, git or file.' })
  if (url.password || (url.username && url.protocol !== 'ssh:'))
    throw new InvalidInput('address', 'it contains a user name or password, which git would store in the repository.', {
      try: 'Leave it out. Sign in with gh auth login or a credential helper of git instead.',
    })
  if (url.protocol === 'file:') {
    if (url.host) throw new InvalidInput('address', 'a file address cannot name a host.')
    return { address, folder: decoded(url.pathname) }
  }
  if (!HOST.test(url.hostname) || (url.username && !USER.test(url.username)) || url.pathname.length < 2)
    throw notAnAddress()
  return { address }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    throw notAnAddress()
  }
}

/** git@github.com:you/shop.git */
function likeScp(address: string): GitAddress {
  const [, user, host = '', path = ''] = /^(?:([^@:/]+)@)?([^@:/]+):([^:].*)$/.exec(address) ?? []
  if (!HOST.test(host) || (user !== undefined && !USER.test(user)) || path.startsWith('-')) throw notAnAddress()
  return { address }
}

const notAnAddress = (): InvalidInput =>
  new InvalidInput('address', 'is not an address that git can clone.', {
    try: 'Use an address such as https://github.com/you/shop or git@github.com:you/shop.git',
  })

/** The name of the folder for a clone, as git would choose it. */
export function folderFor(address: string): string {
  const last = basename(address.replace(/[/:]+$/, '').replaceAll(':', '/')).replace(/\.git$/i, '')
  return requireFolderName(decoded(last))
}

/** A folder of its own, in plain sight. */
export function requireFolderName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no name has one
  if (/^[^.\-/\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]{0,199}$/.test(name)) return name
  throw new InvalidInput('name', 'must be the name of a new folder, without slashes, and not begin with a dot or dash.')
}
