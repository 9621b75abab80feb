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

/** Where a program that was given this port may answer: as it says itself first. Another port could be anyone's. */
export function addressesFor(port: number, printed: string): string[] {
  const said = (plain(printed).match(LOOPBACK) ?? [])
    .filter(address => new URL(address).port === String(port))
    .map(address => address.replace('//0.0.0.0', '//127.0.0.1'))
  return [...new Set([...said, `http://127.0.0.1:${port}/`, `http://[::1]:${port}/`])]
}

/** The first that answers, whatever it says. */
export async function firstAnswering(addresses: readonly string[]): Promise<string | undefined> {
  for (const address of addresses) if (await answers(address)) return address
  return undefined
}

function answers(address: string): Promise<boolean> {
  return new Promise(resolve => {
    const secure = address.startsWith('https:')
    // Only ever asked of this machine, whose certificates nobody signs.
    const options = { timeout: ANSWER_MS, agent: false, ...(secure && { rejectUnauthorized: false }) }
    const request = (secure ? getHttps : getHttp)(address, options, response => {
      response.destroy()
      resolve(true)
    })
    request.once('error', () => resolve(false)).once('timeout', () => request.destroy())
  })
}
