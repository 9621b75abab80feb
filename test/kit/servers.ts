import type { ChildProcess } from 'node:child_process'
import { onTestFinished } from 'vitest'
import type { Held, Living } from '../../src/store/port.ts'
import { aSchema } from '../../src/store/postgres/schema.testkit.ts'
import { eventually, type TestFleet } from './fleet.ts'

/** A schema of its own on the server of the run. */
export function inSchema(): Record<string, string> {
  const { url, schema } = aSchema()
  return { FLEET_STORE: url, POSTGRESQL_SCHEMA: schema! }
}

export interface TestServer {
  url: string
  child: ChildProcess
  /** What it printed. */
  said(): string
  /** SIGKILL, also if it is stopped. */
  kill(): Promise<void>
  /** SIGTERM, as `fleet down` does. */
  stop(): Promise<number | null>
  signal(name: NodeJS.Signals): void
}

/** A server of the home, beside those that run. */
export async function aServer(
  fleet: TestFleet,
  args: string[] = ['--beside'],
  env: Record<string, string> = {},
  node: string[] = [],
): Promise<TestServer> {
  const { url, child } = await fleet.start({ args: [...args, '--port', '0'], env, node })
  return watched(url, child)
}

export function watched(url: string, child: ChildProcess): TestServer {
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      said += chunk
    })
  const ended = async (name: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
    const gone = new Promise<number | null>(resolve => child.once('exit', resolve))
    child.kill(name)
    return gone
  }
  onTestFinished(async () => {
    await ended('SIGKILL')
  })
  return {
    ...{ url, child, said: () => said, signal: name => void child.kill(name) },
    kill: async () => void (await ended('SIGKILL')),
    stop: () => ended('SIGTERM'),
  }
}

export const heldIn = ({ fleet }: TestFleet): Promise<Held> => fleet.store.heartbeats!.held()
export const serversOf = ({ fleet }: TestFleet): Promise<Living[]> => fleet.store.heartbeats!.servers()

/** Waits until one of these decides, and says which. */
export const decider = (fleet: TestFleet, among: readonly TestServer[]): Promise<TestServer> =>
  eventually('a server that decides', async () => {
    const { server, leftMs } = await heldIn(fleet)
    return leftMs > 0 ? among.find(({ child }) => child.pid === server?.pid) : undefined
  })
