import { get as getHttp } from 'node:http'
import { get as getHttps } from 'node:https'
import { createServer } from 'node:net'
import { stripVTControlCharacters } from 'node:util'

const ANSWER_MS = 2000
const LOOPBACK = /https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)(?::\d+)?(?:\/[^\s"'<>)\]]*)?/g

/** A port of this machine that nobody uses now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

/** What a program printed, without colours and cursor movements. */
export const plain = (printed: string): string => stripVTControlCharacters(printed)

/** The addresses to try for a program with this port, first those it printed. Another port may belong to anyone. */
export function addressesFor(port: number, printed: string): string[] {
  const said = (plain(printed).match(LOOPBACK) ?? [])
    .filter(address => new URL(address).port === String(port))
    .map(address => address.replace('//0.0.0.0', '//127.0.0.1'))
  return [...new Set([...said, `http://127.0.0.1:${port}/`, `http://[::1]:${port}/`])]
}

/** The first address that answers, with any status. */
export async function firstAnswering(addresses: readonly string[]): Promise<string | undefined> {
  for (const address of addresses) if (await answers(address)) return address
  return undefined
}

function answers(address: string): Promise<boolean> {
  return new Promise(resolve => {
    const secure = address.startsWith('https:')
    // These addresses are on this machine only, where certificates are self-signed.
    const options = { timeout: ANSWER_MS, agent: false, ...(secure && { rejectUnauthorized: false }) }
    const request = (secure ? getHttps : getHttp)(address, options, response => {
      response.destroy()
      resolve(true)
    })
    request.once('error', () => resolve(false)).once('timeout', () => request.destroy())
  })
}
