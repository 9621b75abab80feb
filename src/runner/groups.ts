import { accessSync, constants, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readPlain } from '../platform/launch-folder.ts'

/**
 * Control groups of Linux (version 2). The kernel keeps every process of a program in the group it was started in,
 * whatever the process does to its parents, its environment or its folder, and ends all of them at once. There is one
 * group for each mark, so that a session's setup command and its agent share it.
 */
const FOLDER = 'flotilla'
/** In a launch's folder: where the group of its program is. Another server may be in another part of the hierarchy. */
const GROUP_FILE = 'group'
const PATH_BYTES = 4096

let found: string | null | undefined

/** Where this process may make groups; null: nowhere. */
export function groupsFolder(): string | null {
  if (found === undefined) found = groupsFolderOf('self')
  return found
}

/** Where a process may: that depends on where in the hierarchy it was started. */
export function groupsFolderOf(pid: number | 'self'): string | null {
  try {
    // "0::/path": version 2. A mount's fifth field is where it is, and behind the dash stands what it is.
    const own = /^0::(.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, 'utf8'))?.[1]
    const mounted = /^\S+ \S+ \S+ (\S+) (\S+) .* - cgroup2 /m.exec(readFileSync('/proc/self/mountinfo', 'utf8'))
    if (own === undefined || !mounted) return null
    const [, root, place] = mounted
    const here = join(place!, root === '/' ? own : own.slice(root!.length))
    const folder = join(here, FOLDER)
    mkdirSync(folder, { recursive: true })
    // Moving a process into a group takes leave to change the group above as well.
    for (const file of [join(here, 'cgroup.procs'), join(folder, 'cgroup.procs'), join(folder, 'cgroup.kill')])
      accessSync(file, constants.W_OK)
    for (const left of groupsIn(folder)) removeGroup(left)
    return folder
  } catch {
    return null
  }
}

const nameOf = (mark: string): string => mark.replaceAll('/', '_')

/** Makes the group for a launch and leaves word of it for the wrapper. */
export function makeGroup(directory: string, mark: string | undefined): void {
  const folder = mark && groupsFolder()
  if (!folder) return
  const group = join(folder, nameOf(mark))
  try {
    mkdirSync(group, { recursive: true })
    writeFileSync(join(directory, GROUP_FILE), `${group}\n`, { mode: 0o600 })
  } catch {
    // Without a group its processes are looked for as on any other machine.
  }
}

/**
 * The group of a mark: as its launch says, or where one made by this process would be. A launch's file is believed only
 * where it names a group of ours for this very mark, because the agent could have written it.
 */
export function groupOf({ mark, directory }: { mark: string; directory?: string | null }): string | null {
  const name = join(FOLDER, nameOf(mark))
  const said = directory && readPlain(join(directory, GROUP_FILE), PATH_BYTES)?.trimEnd()
  if (said && resolve(said) === said && said.endsWith(`/${name}`)) return said
  const folder = groupsFolder()
  return folder && join(folder, nameOf(mark))
}

/** Every process in a group, and in those that were made inside of it. */
export function pidsIn(group: string): number[] {
  try {
    const own = readFileSync(join(group, 'cgroup.procs'), 'latin1').split('\n').filter(Boolean).map(Number)
    return [...own, ...groupsIn(group).flatMap(pidsIn)]
  } catch {
    return []
  }
}

function groupsIn(group: string): string[] {
  return readdirSync(group, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(entry => join(group, entry.name))
}

/** Ends everything in it at once. Whether that was possible. */
export function killGroup(group: string): boolean {
  try {
    writeFileSync(join(group, 'cgroup.kill'), '1')
    return true
  } catch {
    return false
  }
}

/** An empty one goes; one with something in it stays. */
export function removeGroup(group: string): void {
  try {
    for (const inner of groupsIn(group)) removeGroup(inner)
    rmdirSync(group)
  } catch {
    // Somebody is in it, or it is gone already.
  }
}
