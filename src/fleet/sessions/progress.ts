import { closeSync, fstatSync, readSync } from 'node:fs'
import { fileOf, newestLaunch } from '../../platform/launch-folder.ts'
import { openPlain } from '../../platform/plain-files.ts'
import type { Fleet } from '../fleet.ts'

const NEWLINE = 0x0a
const CHUNK = 64 * 1024

interface Printed {
  file: string
  read: number
  lines: number
}
/** Earlier counts: a transcript only grows, so the next look reads only what is new. */
const counted = new Map<string, Printed>()

/** How many lines the agent of a session has printed (each is an event), and when the last one came. */
export function progressOf(fleet: Fleet, sessionId: string): { events: number; last_at: string | null } {
  const launch = newestLaunch(fleet.home.session(sessionId), 'agent')
  const file = fileOf(launch ?? '', 'stdout')
  const fd = launch ? openPlain(file) : undefined
  if (fd === undefined) return { events: 0, last_at: null }
  try {
    const { size, mtime } = fstatSync(fd)
    const before = counted.get(sessionId)
    const printed = before?.file === file && before.read <= size ? before : { file, read: 0, lines: 0 }
    const buffer = Buffer.alloc(CHUNK)
    for (let bytes = 1; printed.read < size && bytes; printed.read += bytes) {
      bytes = readSync(fd, buffer, 0, Math.min(CHUNK, size - printed.read), printed.read)
      for (let at = buffer.indexOf(NEWLINE); at >= 0 && at < bytes; at = buffer.indexOf(NEWLINE, at + 1))
        printed.lines++
    }
    counted.set(sessionId, printed)
    return { events: printed.lines, last_at: size ? mtime.toISOString() : null }
  } finally {
    closeSync(fd)
  }
}

/** Drops the counts of sessions that are not at work. */
export function forgetProgress(live: ReadonlySet<string>): void {
  for (const id of counted.keys()) if (!live.has(id)) counted.delete(id)
}
