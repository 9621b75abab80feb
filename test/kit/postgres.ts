import { type ChildProcess, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import {
  account,
  freePort,
  type PostgresServer,
  rawly,
  startPostgres,
} from '../../src/store/postgres/server.testkit.ts'
import { eventually } from './fleet.ts'

/** A PostgreSQL server for one test, which may stop or crash it. */
export async function aPostgres(): Promise<PostgresServer> {
  const server = await startPostgres()
  onTestFinished(() => server.remove())
  return server
}

export const PGBOUNCER = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find(path => existsSync(path))

interface Bouncer {
  url: string
  /** Cuts every connection off, in the middle of whatever goes through. */
  crash(): Promise<void>
  start(): Promise<void>
}

/** PgBouncer in front of a server. */
export async function aBouncer(
  server: { url: string; port: number },
  mode: 'transaction' | 'statement',
): Promise<Bouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'fleet-bouncer-'))
  const as = account()
  const port = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(
    file,
    `[databases]\n* = user=fleet host=127.0.0.1 port=${server.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\n` +
      `unix_socket_dir =\nauth_type = any\nadmin_users = fleet\npool_mode = ${mode}\ndefault_pool_size = 5\n`,
  )
  if (as.uid !== undefined) for (const path of [folder, file]) chownSync(path, as.uid, as.gid!)
  const url = `postgresql://fleet@127.0.0.1:${port}/postgres`
  let child: ChildProcess
  const bouncer: Bouncer = {
    url,
    async start() {
      child = spawn(PGBOUNCER!, ['-q', file], { ...as, stdio: 'ignore', cwd: folder })
      await eventually('PgBouncer', () =>
        rawly(url, 'SELECT 1').then(
          () => true,
          () => undefined,
        ),
      )
    },
    async crash() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = new Promise(resolve => child.once('exit', resolve))
      child.kill('SIGKILL')
      await gone
    },
  }
  onTestFinished(async () => {
    await bouncer.crash()
    rmSync(folder, { recursive: true, force: true })
  })
  await bouncer.start()
  return bouncer
}

/** A network between the fleet and its database that can hang: connections stay open, and nothing passes. */
export async function aWire(to: number): Promise<{ port: number; hang(isHanging: boolean): void }> {
  let isHanging = false
  const sockets = new Set<Socket>()
  const server = createServer(near => {
    const far = connect(to, '127.0.0.1')
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', chunk => isHanging || into.write(chunk))
      from.on('error', () => into.destroy())
      from.on('close', () => into.destroy())
    }
  })
  const port = await freePort()
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    port,
    hang: now => {
      isHanging = now
    },
  }
}
