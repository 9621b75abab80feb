import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Home } from '../platform/home.ts'
import { bootId, isAlive } from '../runner/processes.ts'
import { type DaemonInfo, isHeld, type Lock, readDaemon, takeLock, writeDaemon } from '../store/index.ts'

/** Where each server of a home says who it is, if several may work in it. */
const folderOf = (home: Home): string => join(home.path, 'servers')
const fileOf = (home: Home, pid: number): string => join(folderOf(home), `${pid}.json`)

/** The servers that work in this home now, on a store that several share. */
export function serversIn(home: Home): DaemonInfo[] {
  let names: string[]
  try {
    names = readdirSync(folderOf(home))
  } catch {
    return []
  }
  return names
    .filter(name => name.endsWith('.json'))
    .flatMap(name => readDaemon(home.path, join(folderOf(home), name)) ?? [])
    .filter(({ pid, started }) => isAlive({ pid, started, boot: bootId }))
}

export const serverIn = (home: Home, pid: number): DaemonInfo | undefined =>
  serversIn(home).find(each => each.pid === pid)

/**
 * One of several servers of a home. Commands find the server of a home by its lock and `holder.json`: so some server
 * has the lock as long as one lives, and that file names the one that decides.
 */
export class HomeServer {
  readonly #home: Home
  #lock: Lock | undefined
  #info: DaemonInfo | undefined

  constructor(home: Home, lock: Lock | undefined) {
    this.#home = home
    this.#lock = lock
    mkdirSync(folderOf(home), { recursive: true, mode: 0o700 })
  }

  async announce(info: DaemonInfo): Promise<void> {
    this.#info = info
    await writeDaemon(this.#home.path, info, fileOf(this.#home, info.pid))
    if (this.#lock) await this.#lock.announce(info)
  }

  /** Takes the lock if the server that had it is gone, and names this server if it decides. */
  async look(isDecider: boolean): Promise<void> {
    const { path } = this.#home
    if (!this.#info) return
    if (!this.#lock && !isHeld(path)) {
      this.#lock = takeLock(path)
      await this.#lock?.announce(this.#info)
    }
    const named = readDaemon(path)
    if (isDecider && named?.pid !== process.pid) await writeDaemon(path, this.#info)
  }

  leave(): void {
    rmSync(fileOf(this.#home, process.pid), { force: true })
    const named = readDaemon(this.#home.path)
    if (!this.#lock && named?.pid === process.pid) rmSync(join(this.#home.path, 'holder.json'), { force: true })
    this.#lock?.release()
  }
}
