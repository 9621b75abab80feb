import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { fileOf } from '../platform/launch-folder.ts'
import { readPlain } from '../platform/plain-files.ts'

/**
 * Control groups of Linux (version 2). The kernel keeps every process of a program in the group it was started in,
 * whatever the process does to its parents, its environment or its folder, and ends all of them at once. There is one
 * group for each mark, so that a session's setup command and its agent share it.
 */
const FOLDER = 'flotilla'
const PATH_BYTES = 4096

let found: string | null | undefined

/** The folder where this process may make groups. Null: there is none. */
export function groupsFolder(): string | null {
  if (found === undefined) found = groupsFolderOf('self')
  return found
}

/** The folder where a process may make groups. It depends on where in the hierarchy it was started. */
export function groupsFolderOf(pid: number | 'self'): string | null {
  try {
    // "0::/path" is version 2. The fifth field of a mount is its path, and its type is after the dash.
    const own = /^0::(.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, 'utf8'))?.[1]
    const mounted = /^\S+ \S+ \S+ (\S+) (\S+) .* - cgroup2 /m.exec(readFileSync('/proc/self/mountinfo', 'utf8'))
    if (own === undefined || !mounted) return null
    const [, root, place] = mounted
    const here = join(place!, root === '/' ? own : own.slice(root!.length))
    const folder = join(here, FOLDER)
    mkdirSync(folder, { recursive: true })
    // Moving a process into a group needs permission to change the group above as well.
    for (const file of [join(here, 'cgroup.procs'), join(folder, 'cgroup.procs'), join(folder, 'cgroup.kill')])
      accessSync(file, constants.W_OK)
    for (const left of groupsIn(folder)) if (isOld(left)) removeGroup(left)
    return folder
  } catch {
    return null
  }
}

/** Every server of the machine has its groups here. An empty one may be that of a launch that begins in this moment. */
const OLD_MS = 24 * 3600_000
const isOld = (group: string): boolean => Date.now() - statSync(group).mtimeMs > OLD_MS

const nameOf = (mark: string): string => mark.replaceAll('/', '_')

/** Makes the group for a launch and records it: another server may be in another part of the hierarchy. */
export function makeGroup(directory: string, mark: string | undefined): void {
  const folder = mark && groupsFolder()
  if (!folder) return
  const group = join(folder, nameOf(mark))
  try {
    mkdirSync(group, { recursive: true })
    writeFileSync(fileOf(directory, 'group'), `${group}\n`, { mode: 0o600 })
  } catch {
    // Without a group its processes are found as on any other machine.
  }
}

/**
 * The group of a mark: as its launch says, or where this process would make one. The file of a launch counts only if it
 * names one of our groups for this mark, because the agent could have written it.
 */
export function groupOf({ mark, directory }: { mark: string; directory?: string | null }): string | null {
  const name = join(FOLDER, nameOf(mark))
  const said = directory && readPlain(fileOf(directory, 'group'), PATH_BYTES)?.trimEnd()
  if (said && resolve(said) === said && said.endsWith(`/${name}`)) return said
  const folder = groupsFolder()
  return folder && join(folder, nameOf(mark))
}

/** Every process in a group and its subgroups. */
export function pidsIn(group: string): number[] {
  try {
    const own = readFileSync(join(group, 'cgroup.procs'), 'latin1').split('\n').filter(Boolean).map(Number)
    return isLeaf(group) ? own : [...own, ...groupsIn(group).flatMap(pidsIn)]
  } catch {
    return []
  }
}

/** Each subgroup is one more link to a group. */
const isLeaf = (group: string): boolean => statSync(group).nlink === 2

function groupsIn(group: string): string[] {
  return readdirSync(group, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(entry => join(group, entry.name))
}

/** Ends everything in it at once. Returns whether that was possible. */
export function killGroup(group: string): boolean {
  try {
    writeFileSync(join(group, 'cgroup.kill'), '1')
    return true
  } catch {
    return false
  }
}

/** Removes the group if it is empty. */
export function removeGroup(group: string): void {
  try {
    if (!isLeaf(group)) for (const inner of groupsIn(group)) removeGroup(inner)
    rmdirSync(group)
  } catch {
    // Somebody is in it, or it is gone already.
  }
}
