import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { appendFileSync, chownSync, existsSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'

/** A PostgreSQL server of our own: its files in a temporary folder, on the loopback, ended by its pid. */
export interface PostgresServer {
  /** As the superuser of this server. */
  url: string
  pid: number
  port: number
  /** Ends it as a person would; its files stay. */
  stop(): Promise<void>
  /** SIGKILL: the server cannot say goodbye. */
  crash(): Promise<void>
  start(): Promise<void>
  remove(): Promise<void>
}

/** Where initdb and postgres are: of the machine, or as `npm run test:postgres` unpacked them. Undefined: nowhere. */
export function programsFolder(unpacked?: string): string | undefined {
  const folders = [
    ...globSync('/usr/lib/postgresql/*/bin'),
    '/usr/local/bin',
    '/usr/bin',
    ...(unpacked ? [unpacked] : []),
  ]
  return folders.findLast(folder => ['initdb', 'postgres'].every(name => existsSync(join(folder, name))))
}

/** Runs statements as the superuser. */
export async function rawly<T extends pg.QueryResultRow>(url: string, text: string, values?: unknown[]): Promise<T[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query<T>(text, values)).rows
  } finally {
    await client.end()
  }
}

/** PostgreSQL refuses to run as root, so root starts it as another user. */
export function account(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const idOf = (flag: string, name: string) =>
    Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }))
  for (const name of ['postgres', 'nobody'])
    try {
      return { uid: idOf('-u', name), gid: idOf('-g', name) }
    } catch {
      // No such user here.
    }
  return {}
}

export async function startPostgres(
  bin = programsFolder(process.env.FLEET_TEST_POSTGRES_BIN),
): Promise<PostgresServer> {
  if (!bin) throw new Error('there is no PostgreSQL server on this machine')
  const folder = mkdtempSync(join(tmpdir(), 'fleet-postgres-'))
  const as = account()
  if (as.uid !== undefined) chownSync(folder, as.uid, as.gid!)
  const data = join(folder, 'data')
  const env = { PATH: process.env.PATH, LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8', HOME: folder }
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'fleet', '--auth=trust', '-E', 'UTF8', '--no-sync'], {
    ...as,
    env,
    cwd: folder,
    stdio: 'ignore',
  })
  const port = await freePort()
  appendFileSync(
    join(data, 'postgresql.conf'),
    `\nlisten_addresses = '127.0.0.1'\nport = ${port}\nunix_socket_directories = '${folder}'\nmax_connections = 200\n`,
  )
  let child: ChildProcess
  const url = `postgresql://fleet@127.0.0.1:${port}/postgres`
  const ended = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise(resolve => child.once('exit', resolve))
    child.kill(signal)
    await gone
  }
  const server: PostgresServer = {
    url,
    port,
    get pid() {
      return child.pid!
    },
    async start() {
      child = spawn(join(bin, 'postgres'), ['-D', data], { ...as, env, cwd: folder, stdio: 'ignore' })
      for (let left = 400; ; left--) {
        const isUp = await rawly(url, 'SELECT 1').then(
          () => true,
          () => false,
        )
        if (isUp) return
        if (!left || child.exitCode !== null) throw new Error('the PostgreSQL server did not start')
        await delay(25)
      }
    },
    // SIGINT is its fast shutdown: it cuts off whoever is connected.
    stop: () => ended('SIGINT'),
    crash: () => ended('SIGKILL'),
    async remove() {
      await ended('SIGQUIT')
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
    },
  }
  await server.start()
  return server
}

export function freePort(): Promise<number> {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
