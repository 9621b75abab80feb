import { hostname } from 'node:os'
import { NotAllowed, Unfit } from '../domain/errors.ts'
import type { Home } from '../platform/home.ts'
import { bootId, signal } from '../runner/processes.ts'
import { isHeld, readDaemon } from '../store/index.ts'
import { serversIn } from './home-servers.ts'

const STOP_MS = 30_000
const LOOK_EVERY_MS = 20

/** Asks the server of this home to stop, or all of them, and waits until they have; false if none was running. */
export async function stopServer(home: Home): Promise<boolean> {
  const several = serversIn(home)
  if (several.length) {
    for (const { pid, started } of several) signal({ pid, started, boot: bootId }, 'SIGTERM')
    for (const start = Date.now(); serversIn(home).length; await pause()) {
      const [left] = serversIn(home)
      if (left && Date.now() - start > STOP_MS) throw didNotStop(left)
    }
    return true
  }
  if (!isHeld(home.path)) return false
  const daemon = readDaemon(home.path)
  if (!daemon)
    throw new Unfit(`A process holds the home ${home.path}, but has not said which one.`, {
      try: 'Try again in a moment.',
    })
  if (daemon.host !== hostname())
    throw new NotAllowed(`The server of this home runs on another machine: ${daemon.host}.`, { try: 'Stop it there.' })
  signal({ pid: daemon.pid, started: daemon.started, boot: bootId }, 'SIGTERM')
  for (const start = Date.now(); isHeld(home.path); await pause())
    if (Date.now() - start > STOP_MS) throw didNotStop(daemon)
  return true
}

const pause = (): Promise<void> => new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))

const didNotStop = ({ pid }: { pid: number }): Unfit =>
  new Unfit(`The server (process ${pid}) did not stop within ${STOP_MS / 1000} seconds.`, {
    try: `If it hangs, end it: kill -9 ${pid}. Agents continue.`,
  })
