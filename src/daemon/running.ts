import { Unreachable } from '../domain/errors.ts'
import type { Home } from '../platform/home.ts'

export interface Running {
  pid: number
  started: string
  version: string
  url: string
  settings: Record<string, string>
  flags: Record<string, string>
}

/** The server that holds the home now, if it has said where it answers. */
export async function runningServer(home: Home): Promise<Running | undefined> {
  const { isHeld, readDaemon } = await import('../store/index.ts')
  // Read after the lock is seen: whoever takes it first removes what a killed server left here.
  const daemon = isHeld(home.path) ? readDaemon(home.path) : undefined
  return daemon?.url ? { ...daemon, url: daemon.url } : undefined
}

const ANSWER_MS = 3000

/** A server that holds the home may be stopped, or hang. Any answer counts, even an error. */
export async function answers(url: string): Promise<boolean> {
  const { get } = url.startsWith('https:') ? await import('node:https') : await import('node:http')
  return new Promise(resolve => {
    // Nothing secret is sent, so a self-signed certificate is good enough.
    const request = get(new URL('/health', url), { timeout: ANSWER_MS, rejectUnauthorized: false }, response => {
      response.destroy()
      resolve(true)
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(false))
  })
}

export const silentDaemon = ({ pid }: { pid: number }): Unreachable =>
  new Unreachable(`The server (process ${pid}) holds the home but has not answered for ${ANSWER_MS / 1000} s.`, {
    try: `If it was stopped (Ctrl-Z), let it continue: kill -CONT ${pid}. If it hangs, end it: kill -9 ${pid}, then fleet up --detach. Agents continue in both cases.`,
  })

/** The server that holds the home, which must answer. */
export async function answeringServer(home: Home): Promise<Running | undefined> {
  const running = await runningServer(home)
  if (running && !(await answers(running.url))) throw silentDaemon(running)
  return running
}
