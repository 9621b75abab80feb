import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A fleet of some checkout in a home of its own. Everything is asked for as a person does it: by its `fleet` command. */
export interface Program {
  root: string
  home: string
  /** The Node and the script that `fleet` is. */
  node: string
  fleet: string
  start(): Promise<void>
  stop(): Promise<void>
  call<T = { id: string }>(operation: string, input?: object): Promise<T>
  link(): Promise<string>
  remove(): Promise<void>
}

export function aProgram(checkout: string, extra: Record<string, string> = {}): Program {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'flotilla-screens-')))
  const home = join(root, '.flotilla')
  const node = join(checkout, 'node_modules/node/bin/node')
  const fleet = join(checkout, 'bin/fleet.js')
  mkdirSync(home, { mode: 0o700 })
  const env = {
    PATH: `${join(checkout, 'node_modules/node/bin')}:${process.env.PATH}`,
    LANG: 'C.UTF-8',
    HOME: root,
    FLEET_STOP_GRACE: '1',
    ...extra,
  }
  let server: ChildProcess | undefined
  const command = async (args: string[]): Promise<string> =>
    (await run(node, [fleet, ...args], { cwd: root, env, maxBuffer: 1e8 })).stdout
  return {
    root,
    home,
    node,
    fleet,
    async start() {
      // The same port each time, so that pages opened before a restart find it again.
      server = spawn(node, [fleet, 'up', '--port', '0'], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
      const child = server
      await new Promise<void>((resolve, reject) => {
        let text = ''
        const read = (chunk: Buffer) => {
          text += chunk
          if (text.includes('is up at')) resolve()
        }
        child.stdout!.on('data', read)
        child.stderr!.on('data', read)
        child.once('exit', code => reject(new Error(`the server ended with ${code}:\n${text}`)))
      })
    },
    async stop() {
      if (!server || server.exitCode !== null || server.signalCode !== null) return
      const gone = new Promise(resolve => server!.once('exit', resolve))
      server.kill('SIGTERM')
      await gone
    },
    call: async (operation, input = {}) => JSON.parse(await command(['call', operation, JSON.stringify(input)])),
    async link() {
      const text = await command(['up', '--detach'])
      const link = /https?:\/\/\S+\/sign-in\S*/.exec(text)?.[0]
      if (!link) throw new Error(`fleet up gave no link:\n${text}`)
      return link
    },
    async remove() {
      await command(['down', '--agents']).catch(() => {})
      await this.stop()
      rmSync(root, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

const PATIENCE_MS = 90_000

export async function until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  for (const end = Date.now() + PATIENCE_MS; ; ) {
    const found = await look()
    if (found) return found
    if (Date.now() > end) throw new Error(`waited too long for ${what}`)
    await pause(200)
  }
}
