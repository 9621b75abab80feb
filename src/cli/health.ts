import { runningServer, silentDaemon } from '../daemon/running.ts'
import { Unreachable } from '../domain/errors.ts'
import type { Readiness } from '../fleet/metrics/readiness.ts'
import { openHome } from '../platform/home.ts'
import type { Cli } from './command.ts'
import { EXIT } from './exit.ts'
import { homeOf, namedServer } from './server.ts'

const PATIENCE_MS = 5000

/** Exits with 0 only if the server is ready, so that a script needs nothing else. */
export async function showHealth({ terminal, where }: Cli): Promise<number> {
  const named = namedServer(where)
  const running = named ? undefined : await runningServer(openHome(homeOf(where)))
  const url = named ?? running?.url
  if (!url) throw new Unreachable('No server is running on this home.', { try: 'fleet up --detach' })
  const silent = running
    ? silentDaemon(running)
    : new Unreachable(`The server at ${url} cannot be reached.`, { try: 'fleet up --detach' })
  const health = await jsonAt<{ status: string; version: string }>(url, '/health').catch(() => undefined)
  if (!health) throw silent
  const ready = await jsonAt<Readiness>(url, '/ready').catch(() => undefined)
  const state = { url, ...health, ready: ready?.ready ?? false, ...ready }
  terminal.tell(state, () => {
    const word = state.ready ? terminal.paint('green', 'is ready') : terminal.paint('yellow', 'is not ready')
    terminal.print(`The fleet at ${url} answers and ${word} (version ${health.version}).`)
    for (const reason of ready?.reasons ?? ['It does not say whether it is ready; it may be an earlier version.'])
      terminal.print(`  ${terminal.foreign(reason)}`)
  })
  return state.ready ? EXIT.done : EXIT.failed
}

const MOST_BYTES = 64 * 1024

/** The answer, whatever its status. Nothing secret is sent, so a self-signed certificate is good enough. */
async function jsonAt<T>(url: string, path: string): Promise<T> {
  const { get } = url.startsWith('https:') ? await import('node:https') : await import('node:http')
  return new Promise((resolve, reject) => {
    const request = get(new URL(path, url), { timeout: PATIENCE_MS, rejectUnauthorized: false }, response => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
        if (text.length > MOST_BYTES) response.destroy(new Error('too long'))
      })
      response.on('error', reject).on('end', () => {
        try {
          resolve(JSON.parse(text) as T)
        } catch (error) {
          reject(error)
        }
      })
    })
    request.on('timeout', () => request.destroy(new Error('no answer')))
    request.on('error', reject)
  })
}
