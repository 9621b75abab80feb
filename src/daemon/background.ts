import { spawn } from 'node:child_process'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { withWholeAddress } from '../config/store-elsewhere.ts'
import { Unfit } from '../domain/errors.ts'
import type { Home } from '../platform/home.ts'
import { requirePlain } from '../platform/whole-files.ts'
import { SMALL_MEMORY, withoutSession } from './environment.ts'
import { type Running, runningServer } from './running.ts'

const START_MS = 60_000
/** What a server prints into its log when it has started completely. */
export const UP = 'The fleet is up at'
const LOOK_EVERY_MS = 20
const LAST_WORDS_BYTES = 2000

/** Starts a server that outlives this command, and says so. Returns when the server answers. */
export async function startInBackground(
  home: Home,
  where: { env: NodeJS.ProcessEnv; note(line: string): void },
  options: readonly string[] = [],
  { beside = false }: { beside?: boolean } = {},
): Promise<Running> {
  const logFile = join(home.logs, 'up.log')
  requirePlain(logFile)
  const log = openSync(logFile, 'a+', 0o600)
  const before = fstatSync(log).size
  try {
    const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, 'up', '--into-log', ...options], {
      detached: true,
      cwd: home.path,
      env: { ...SMALL_MEMORY, ...withoutSession(withWholeAddress(where.env)), FLEET_HOME: home.path },
      stdio: ['ignore', log, log],
    })
    child.unref()
    const gone = () => child.exitCode !== null || child.signalCode !== null
    const running = await (beside ? answeringBeside(home, child.pid!, gone) : answering(home, gone))
    // It answers before it has adopted the running work, and may still fail at that.
    const isUp = () => running?.pid !== child.pid || lastWords(log, before).includes(UP)
    while (running && !isUp() && !gone()) await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))
    if (!running || !isUp())
      throw new Unfit(`The server did not start. ${lastWords(log, before).replaceAll(/^fleet: /gm, '')}`.trim(), {
        try: `See ${logFile}, or start it in the foreground: fleet up`,
      })
    where.note(`Started the fleet in the background at ${running.url} (stop it with fleet down).`)
    return running
  } finally {
    closeSync(log)
  }
}

/**
 * Waits until a server answers. It need not be ours: if several are started at once, one takes the home, and the others
 * end before they listen.
 */
async function answering(home: Home, gone: () => boolean): Promise<Running | undefined> {
  const { isHeld } = await import('../store/index.ts')
  for (
    const start = Date.now();
    Date.now() - start < START_MS;
    await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))
  ) {
    const isOver = gone() && !isHeld(home.path)
    const running = await runningServer(home)
    if (running || isOver) return running
  }
  return undefined
}

/** Waits until this one of several servers of a home answers. */
async function answeringBeside(home: Home, pid: number, gone: () => boolean): Promise<Running | undefined> {
  const { serverIn } = await import('./home-servers.ts')
  for (const start = Date.now(); Date.now() - start < START_MS && !gone(); ) {
    const server = serverIn(home, pid)
    if (server?.url) return { ...server, url: server.url }
    await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))
  }
  return undefined
}

function lastWords(log: number, from: number): string {
  const start = Math.max(from, fstatSync(log).size - LAST_WORDS_BYTES)
  const buffer = Buffer.alloc(LAST_WORDS_BYTES)
  return buffer.toString('utf8', 0, readSync(log, buffer, 0, LAST_WORDS_BYTES, start)).trim()
}
