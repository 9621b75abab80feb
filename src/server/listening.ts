import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { InvalidInput, type Refusal } from '../domain/errors.ts'
import { isLoopback } from './origin.ts'
import { CannotListen } from './refusals.ts'

export interface ListenAddress {
  host: string
  port: number
  tls: boolean
}

/** Anyone can read a token that travels unencrypted. */
export function requireSafeAddress({
  host,
  tls,
  allowInsecure,
}: {
  host: string
  tls: boolean
  allowInsecure: boolean
}): void {
  if (isLoopback(host) || tls || allowInsecure) return
  throw new InvalidInput(
    'host',
    `Other machines can reach ${host}, and without TLS the token would travel unencrypted.`,
    {
      try: 'Give --tls-cert and --tls-key, or --allow-insecure if something else encrypts: a VPN, a proxy.',
    },
  )
}

/** Why a server could not listen, for a person; undefined for an unknown reason. */
export function whyNotListening(error: NodeJS.ErrnoException, { host, port }: ListenAddress): Refusal | undefined {
  if (error.code === 'EADDRINUSE') {
    const who = whoListens(port)
    return new CannotListen(`Port ${port} is taken${who ? ` by ${who.name} (pid ${who.pid})` : ''}.`, {
      try: 'Stop that program, or choose another port with --port.',
      facts: { port, ...who },
    })
  }
  if (error.code === 'EACCES')
    return new CannotListen(`This user may not listen on port ${port}.`, {
      try: 'Choose a port above 1023 with --port.',
    })
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return new CannotListen(`${host} is not an address of this machine.`, {
      try: 'Leave out --host to listen on 127.0.0.1.',
    })
  return undefined
}

const LISTENING = '0A'

/** As the kernel reports it on Linux. Elsewhere, or for another user's program, it is unknown. */
export function whoListens(port: number): { pid: number; name: string } | undefined {
  try {
    const sockets = ['/proc/net/tcp', '/proc/net/tcp6']
      .flatMap(table => listeningSockets(table, port))
      .map(inode => `socket:[${inode}]`)
    const pid = readdirSync('/proc').find(name => /^\d+$/.test(name) && holdsOneOf(name, sockets))
    return pid ? { pid: Number(pid), name: readFileSync(`/proc/${pid}/comm`, 'utf8').trim() } : undefined
  } catch {
    return undefined
  }
}

function listeningSockets(table: string, port: number): string[] {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = readFileSync(table, 'utf8')
    .split('\n')
    .map(line => line.trim().split(/\s+/))
  return rows.filter(([, local, , state]) => local?.endsWith(wanted) && state === LISTENING).map(row => row[9]!)
}

function holdsOneOf(pid: string, sockets: string[]): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some(fd => sockets.includes(readlinkSync(`/proc/${pid}/fd/${fd}`)))
  } catch {
    return false
  }
}
