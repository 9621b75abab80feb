import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, realpathSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

const BLOCK = Buffer.alloc(4096)

export interface SmallDisk {
  path: string
  /** Leaves no free block. */
  fill(): void
  free(): void
  /** Makes temporary folders on this disk while it runs. */
  holding<T>(make: () => Promise<T>): Promise<T>
}

/** Whether this machine lets us mount a disk. */
export const canMount = (() => {
  const path = mkdtempSync(join(tmpdir(), 'flotilla-disk-'))
  try {
    mount(path, 1)
    unmount(path)
    return true
  } catch {
    return false
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
})()

export function aSmallDisk(megabytes: number): SmallDisk {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'flotilla-disk-')))
  mount(path, megabytes)
  onTestFinished(() => {
    unmount(path)
    rmSync(path, { recursive: true, force: true })
  })
  const filler = join(path, 'filler')
  return {
    path,
    fill() {
      const fd = openSync(filler, 'a')
      try {
        for (;;) writeSync(fd, BLOCK)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      } finally {
        closeSync(fd)
      }
    },
    free: () => rmSync(filler),
    async holding(make) {
      const { TMPDIR } = process.env
      process.env.TMPDIR = path
      try {
        return await make()
      } finally {
        if (TMPDIR === undefined) delete process.env.TMPDIR
        else process.env.TMPDIR = TMPDIR
      }
    },
  }
}

function mount(path: string, megabytes: number): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path], { stdio: 'ignore' })
}

function unmount(path: string): void {
  execFileSync('umount', ['-l', path], { stdio: 'ignore' })
}
