import { runningServer } from '../daemon/running.ts'
import { NotAllowed } from '../domain/errors.ts'
import { openHome } from '../platform/home.ts'
import { openKeys } from '../platform/keys.ts'
import { VERSION } from '../platform/version.ts'
import { isThisMachine, loginTo } from './logins.ts'
import { type Client, homeOf, namedServer, type Where } from './server.ts'

/**
 * A named server is asked; inside a session that is the server which started it, with the session's own token. A
 * running server of another version is asked too. Otherwise the store is opened here: no server is needed to read and
 * write it.
 */
export async function connect(where: Where): Promise<Client> {
  const url = namedServer(where)
  if (url) return overHttp(url, await tokenFor(url, where))
  const home = openHome(homeOf(where))
  const running = await runningServer(home)
  if (running && running.version !== VERSION) return overHttp(running.url, await openKeys(home).ownerToken())
  const { localClient } = await import('./client-local.ts')
  return localClient(home, where, running)
}

/** The token for a named server. That of the home goes to the server of the home only. */
export async function tokenFor(url: string, where: Where): Promise<string> {
  const { FLEET_TOKEN } = where.env
  const login = loginTo(where.env, url)
  if (FLEET_TOKEN && (where.url || where.env.FLEET_URL)) return FLEET_TOKEN
  if (login) return login.token
  const home = openHome(homeOf(where))
  if (isSameServer(url, (await runningServer(home))?.url)) return openKeys(home).ownerToken()
  throw new NotAllowed(`This terminal is not signed in to ${url}.`, { try: `fleet login ${url}` })
}

function isSameServer(one: string, other: string | undefined): boolean {
  const [named, own] = [URL.parse(one), other === undefined ? null : URL.parse(other)]
  if (!named || !own) return false
  return named.origin === own.origin || (named.port === own.port && isThisMachine(one) && isThisMachine(other!))
}

async function overHttp(url: string, token: string): Promise<Client> {
  const { httpClient } = await import('./client-http.ts')
  return httpClient(url, token)
}
