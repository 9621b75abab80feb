import { type FSWatcher, statfsSync, watch } from 'node:fs'
import { guarded } from './timers.ts'

/** After this long without a change, the next look waits for a hint. */
const QUIET_MS = 1000
/** Hints can be missing, and some changes give none. */
const REST_MS = 1000

/** File systems that report every change: ext4, XFS, Btrfs, tmpfs, overlay, ZFS, F2FS, bcachefs. */
const LOCAL = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010, 0xca451a4e])

export interface Outlook {
  folder: string
  /** The files in it that matter. */
  names: readonly string[]
  /** How often to look while something changes. */
  everyMs: number
  restMs?: number
}

/**
 * Looks for changes: often while there are some, and otherwise when the file system hints at one. A hint may come before
 * the change can be seen, so it begins a time of frequent looks. Where no hints come, it looks often all the time.
 */
export class Lookout {
  readonly #at: Outlook
  readonly #tick: () => void
  #timer: NodeJS.Timeout | undefined
  /** Only while resting: a busy file would give thousands of hints a second. */
  #watcher: FSWatcher | undefined
  #busyAt = 0
  #isOver = false

  /** `look` says whether it saw a change. */
  constructor(at: Outlook, look: () => boolean, onFault: (error: unknown) => void) {
    this.#at = at
    this.#tick = guarded(() => {
      if (look()) this.#hurry()
      else if (!this.#watcher && performance.now() - this.#busyAt >= QUIET_MS) this.#rest()
    }, onFault)
    this.#hurry()
  }

  close(): void {
    this.#isOver = true
    this.#stop()
  }

  #hurry(): void {
    if (this.#isOver) return
    this.#busyAt = performance.now()
    if (!this.#timer || this.#watcher) this.#lookEvery(this.#at.everyMs)
  }

  #rest(): void {
    if (this.#isOver) return
    const watcher = hintsIn(this.#at, () => {
      this.#hurry()
      this.#tick()
    })
    this.#busyAt = performance.now()
    if (!watcher) return
    this.#lookEvery(this.#at.restMs ?? REST_MS)
    this.#watcher = watcher
    // What changed since the last look gave no hint.
    this.#tick()
  }

  #lookEvery(ms: number): void {
    this.#stop()
    this.#timer = setInterval(this.#tick, ms).unref()
  }

  #stop(): void {
    clearInterval(this.#timer)
    this.#watcher?.close()
    this.#timer = undefined
    this.#watcher = undefined
  }
}

/** Undefined: nothing would tell. */
function hintsIn({ folder, names }: Outlook, hint: () => void): FSWatcher | undefined {
  try {
    if (process.platform !== 'linux' || !LOCAL.has(statfsSync(folder).type)) return undefined
    const watcher = watch(folder, { persistent: false }, (_, name) => {
      if (name === null || names.includes(name)) hint()
    })
    return watcher.on('error', hint)
  } catch {
    return undefined
  }
}
