import { runningServer } from '../daemon/running.ts'
import { openHome } from '../platform/home.ts'
import { openKeys } from '../platform/keys.ts'
import { VERSION } from '../platform/version.ts'
import { type Client, homeOf, namedServer, type Where } from './server.ts'

/**
 * A named server is asked; inside a session that is the server which started it, with the session's own token. A
 * running server of another version is asked too. Otherwise the store is opened here: no server is needed to read and
 * write it.
 */
export async function connect(where: Where): Promise<Client> {
  const url = namedServer(where)
  if (url) return overHttp(url, where.env.FLEET_TOKEN ?? (await openKeys(openHome(homeOf(where))).ownerToken()))
  const home = openHome(homeOf(where))
  const running = await runningServer(home)
  if (running && running.version !== VERSION) return overHttp(running.url, await openKeys(home).ownerToken())
  const { localClient } = await import('./client-local.ts')
  return localClient(home, where, running)
}

async function overHttp(url: string, token: string): Promise<Client> {
  const { httpClient } = await import('./client-http.ts')
  return httpClient(url, token)
}
