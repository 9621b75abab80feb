import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { textOf } from './whole-files.ts'

const ID_LENGTH = 12

/**
 * The id under which a machine runs the sessions of a home. It is computed and never stored: a home that was copied to
 * another machine or folder has another host, and does not take processes of the first as its own.
 */
export const hostOf = (machine: string, home: { id: string; path: string }): string =>
  createHash('sha256').update([machine, home.id, home.path].join('\0')).digest('hex').slice(0, ID_LENGTH)

/** Identifies this machine even if its name changes; if it has no such id, this is its name. */
export function machineId(): string {
  const [linux] = ['/etc/machine-id', '/var/lib/dbus/machine-id'].flatMap(file => textOf(file)?.trim() || [])
  return linux ?? appleId() ?? hostname()
}

function appleId(): string | undefined {
  if (process.platform !== 'darwin') return undefined
  try {
    const told = execFileSync('ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice'], { encoding: 'utf8' })
    return /"IOPlatformUUID" = "([^"]+)"/.exec(told)?.[1]
  } catch {
    return undefined
  }
}
