import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs'
import { sep } from 'node:path'
import { startersOfPrograms } from '../spawning/index.ts'
import { groupOf, pidsIn } from './groups.ts'

/** A process, told apart from a later one with the same pid by when it started and in which boot of the machine. */
export interface Identity {
  pid: number
  started: string
  boot: string
}

/** One process at the moment when all of them were listed. */
export interface Seen {
  pid: number
  parent: number
  started: string
  zombie: boolean
  terminal: boolean
  /** Hundredths of a second on a processor. */
  cpu: number
}

/** What identifies the processes of a session, wherever they have gone. */
export interface Belonging {
  /** The value of FLEET_SESSION that every process of it inherits. */
  mark: string
  root: Identity | null
  worktree: string | null
  /** The folder of its launch, if known. */
  directory?: string | null
  /** Descendants seen earlier. They are found even after they lost their parents. */
  known: ReadonlyMap<number, string>
  /** The moment before its first program was started. No older process can be one of its own. */
  since?: Moment
}

/** A moment of this machine, by which older and younger processes are told apart. */
export interface Moment {
  /** In the unit of `Seen.started`. */
  started: number
  /** The number that was last given to a process, and how many had been started since the machine was. */
  pid: number
  forks: number
}

const onLinux = process.platform === 'linux'
export const bootId: string = onLinux ? readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() : 'unknown'

export function isAlive({ pid, started, boot }: Identity): boolean {
  if (boot !== bootId) return false
  const seen = look(pid)
  return seen !== undefined && !seen.zombie && seen.started === started
}

export function identityOf(pid: number): Identity | undefined {
  const seen = look(pid)
  return seen && { pid, started: seen.started, boot: bootId }
}

/**
 * A moment that no process started from now on is older than. Its time is a second too early, because that is counted in
 * hundredths. Undefined: this system tells the start in another form.
 */
export function startsFrom(): Moment | undefined {
  if (!onLinux) return undefined
  const { pid, forks } = lastStart()
  return { started: (Number(readProc('/proc/uptime').split(' ', 1)[0]) - 1) * 100, pid, forks }
}

function lastStart(): { pid: number; forks: number } {
  return {
    pid: Number(readProc('/proc/loadavg').trimEnd().split(' ').at(-1)),
    forks: Number(/^processes (\d+)$/m.exec(readProc('/proc/stat'))?.[1]),
  }
}

let mostPids: number | undefined

/**
 * Pids are given in turn, so that until they begin again, a process with a smaller one than the last of a moment is
 * older than it. False: they have begun again, or may have.
 */
function isInTurn({ pid, forks }: Moment): boolean {
  mostPids ??= Number(readProc('/proc/sys/kernel/pid_max'))
  const now = lastStart()
  return now.pid >= pid && now.forks - forks < mostPids / 2
}

function look(pid: number): Seen | undefined {
  if (!onLinux) return fromPs(['-p', String(pid)])[0]
  try {
    const stat = readProc(`/proc/${pid}/stat`)
    // The name in brackets may contain anything, even brackets and spaces, so only what follows the last bracket
    // counts.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 20)
    return {
      pid,
      parent: Number(fields[1]),
      started: fields[19]!,
      zombie: fields[0] === 'Z' || fields[0] === 'X',
      terminal: fields[4] !== '0',
      // Its own time and that of children that have ended: a script that starts many short programs is at work.
      cpu: [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0),
    }
  } catch {
    return undefined
  }
}

const room = Buffer.allocUnsafe(64 * 1024)

/** Reads a file of /proc. It has no size to ask for first, and hundreds are read for each session that ends. */
function readProc(file: string): string {
  const fd = openSync(file, 'r')
  try {
    let text = ''
    for (let count = -1; count !== 0 && !(count > 0 && count < SHORT_BYTES); ) {
      count = readSync(fd, room, 0, room.length, null)
      text += room.toString('latin1', 0, count)
    }
    return text
  } finally {
    closeSync(fd)
  }
}
/** The kernel fills at least a page if it has more to say. */
const SHORT_BYTES = 4096

/** Lists every process. It takes milliseconds, so a caller with several sessions lists once. */
export function everything(): Seen[] {
  return onLinux ? looked(pidsNow()) : fromPs(['-ax'])
}

/** The processes that may be younger than a moment, and those in a group. */
function younger(since: Moment, grouped: readonly number[]): Seen[] {
  if (!isInTurn(since)) return everything()
  return looked([...new Set([...pidsNow().filter(pid => pid > since.pid), ...grouped])])
}

const pidsNow = (): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter(pid => pid > 0)

const looked = (pids: readonly number[]): Seen[] => pids.map(look).filter(seen => seen !== undefined)

/** macOS and others: the same facts from ps, in the form the wrapper writes. */
function fromPs(which: string[]): Seen[] {
  try {
    const text = execFileSync('ps', [...which, '-o', 'pid=,ppid=,stat=,tty=,time=,lstart='], { encoding: 'utf8' })
    return text
      .split('\n')
      .filter(Boolean)
      .map(line => {
        const [pid, parent, stat, tty, time, ...lstart] = line.trim().split(/\s+/)
        return {
          pid: Number(pid),
          parent: Number(parent),
          started: lstart.join('_'),
          zombie: stat!.startsWith('Z'),
          terminal: tty !== '??',
          cpu: 100 * time!.split(/[-:]/).reduce((sum, part) => sum * 60 + Number(part), 0),
        }
      })
  } catch {
    return []
  }
}

/** The descendants of a process, if it still is the same process. */
export function descendants(root: Identity, all: readonly Seen[] = everything()): Map<number, string> {
  return isAlive(root) ? below(all, root.pid) : new Map()
}

/** Everything below a process, its writers too. */
export const identitiesBelow = (root: Identity): Identity[] =>
  [...descendants(root)].map(([pid, started]) => ({ pid, started, boot: bootId }))

function below(all: readonly Seen[], root: number): Map<number, string> {
  const children = Map.groupBy(all, seen => seen.parent)
  const found = new Map<number, string>()
  const queue = [root]
  for (let pid = queue.shift(); pid !== undefined; pid = queue.shift()) {
    for (const child of children.get(pid) ?? []) {
      if (found.has(child.pid)) continue
      found.set(child.pid, child.started)
      queue.push(child.pid)
    }
  }
  return found
}

/** The work of a process tree: see domain/vitals. */
export function workOf(root: Identity, all: readonly Seen[]): { cpu: number; processes: string; written: number } {
  const tree = descendants(root, all)
  const members = all.filter(seen => tree.has(seen.pid))
  return {
    cpu: members.reduce((sum, seen) => sum + seen.cpu, 0),
    processes: members.map(seen => seen.pid).join(),
    written: members.reduce((sum, seen) => sum + writtenBy(seen.pid), 0),
  }
}

function writtenBy(pid: number): number {
  try {
    return Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'latin1'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/**
 * Whether the wrapper started it to write a transcript, or to wait for that: it reads from the pipe, or from a file of
 * the launch, which may be deleted by now. It ends by itself when nobody holds the other end of the pipe. It must not
 * end earlier, because output would be lost.
 */
export function isWriter(pid: number): boolean {
  try {
    return /\/(stdout\.pipe|stderr\.pipe|claim)( \(deleted\))?$/.test(readlinkSync(`/proc/${pid}/fd/0`))
  } catch {
    return false
  }
}

/** Every live process of a session except the wrapper itself and its writers. */
export function membersOf(belonging: Belonging): Identity[] {
  const group = groupOf(belonging)
  const grouped = new Set(group ? pidsIn(group) : [])
  const all = belonging.since ? younger(belonging.since, [...grouped]) : everything()
  const descended = belonging.root ? descendants(belonging.root, all) : new Map<number, string>()
  return (
    all
      .filter(seen => !seen.zombie && seen.pid !== process.pid && seen.pid !== belonging.root?.pid)
      .filter(
        seen =>
          grouped.has(seen.pid) ||
          descended.has(seen.pid) ||
          belonging.known.get(seen.pid) === seen.started ||
          (isYoung(seen, belonging) &&
            (isMarked(seen.pid, belonging.mark) ||
              (worksIn(seen, belonging.worktree) && !isSideProcess(seen.pid) && !isOurOwn(seen, all)))),
      )
      // A writer is never in the group, so a process in the group that reads such a file belongs to the program.
      .filter(seen => grouped.has(seen.pid) || !isWriter(seen.pid))
      .map(seen => ({ pid: seen.pid, started: seen.started, boot: bootId }))
  )
}

/** The environments of all processes of a machine take milliseconds to read, and most are older than the session. */
const isYoung = ({ started }: Seen, { since }: Belonging): boolean =>
  since === undefined || Number(started) >= since.started

/**
 * Whether this server itself runs it, such as git for a person who looks on. An agent is below a wrapper, which has a
 * mark, and nothing else gets us as its parent.
 */
function isOurOwn(seen: Seen, all: readonly Seen[]): boolean {
  const starters = startersOfPrograms()
  for (let at: Seen | undefined = seen; at && marksIn(at.pid).length === 0; ) {
    const { parent }: Seen = at
    if (starters.includes(parent)) return true
    at = all.find(({ pid }) => pid === parent)
  }
  return false
}

const MARK = 'FLEET_SESSION='

/** The mark of a side process. A session that works in the same worktree does not end it. */
export const sideMark = (homeId: string, id: string): string => `${homeId}/${SIDE}${id}`
/** Marks and folders had this word in version 0.1.0, whose processes may still run. */
const SIDE = 'kept-'
/** The id in such a mark; undefined: it is the mark of a session. */
export const sideProcessIn = (mark: string): string | undefined => new RegExp(`/${SIDE}([^/]+)$`).exec(mark)?.[1]

const isSideProcess = (pid: number): boolean => marksIn(pid).some(mark => sideProcessIn(mark) !== undefined)

const isMarked = (pid: number, mark: string): boolean => marksIn(pid).includes(mark)

/** The marks in the environment of a process. Few have one, so most environments are not taken apart. */
function marksIn(pid: number): string[] {
  const text = environmentOf(pid)
  if (!text.includes(MARK)) return []
  return text.split('\0').flatMap(variable => (variable.startsWith(MARK) ? [variable.slice(MARK.length)] : []))
}

/** Its variables, divided by zero bytes. */
function environmentOf(pid: number): string {
  try {
    if (onLinux) return readProc(`/proc/${pid}/environ`)
    const text = execFileSync('ps', ['-Eww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
    return text.replaceAll(/\s+/g, '\0')
  } catch {
    return ''
  }
}

/** The marks of all processes of this home, whoever started them. */
export function marksOf(homeId: string): Set<string> {
  return new Set(everything().flatMap(({ pid }) => marksIn(pid).filter(mark => mark.startsWith(`${homeId}/`))))
}

/** Whether a process has started programs that still run and belong to no session of this home: git, for example. */
export const runsPrograms = (pid: number, homeId: string): boolean =>
  everything().some(
    seen => seen.parent === pid && !seen.zombie && !marksIn(seen.pid).some(mark => mark.startsWith(`${homeId}/`)),
  )

/** A process with a terminal belongs to a person who looks around in the worktree, and is theirs to end. */
function worksIn(seen: Seen, worktree: string | null): boolean {
  if (!worktree || seen.terminal || !onLinux) return false
  try {
    const cwd = readlinkSync(`/proc/${seen.pid}/cwd`)
    return cwd === worktree || cwd.startsWith(worktree + sep)
  } catch {
    return false
  }
}

/**
 * Processes that are in a folder or have a file or folder of it open: they could change it, wherever it is moved.
 * Undefined: this system does not tell.
 */
export function usersOf(folder: string): number[] | undefined {
  if (!onLinux) return undefined
  const isInside = (link: string): boolean => {
    try {
      const path = readlinkSync(link)
      return path === folder || path.startsWith(folder + sep)
    } catch {
      return false
    }
  }
  return everything().flatMap(({ pid, zombie }) => {
    if (zombie || pid === process.pid) return []
    const at = `/proc/${pid}`
    const isOpen = [`${at}/cwd`, `${at}/root`, `${at}/exe`, ...openFilesOf(pid)].some(isInside)
    return isOpen || mapsOf(pid).includes(folder + sep) ? [pid] : []
  })
}

/** A file that is in the memory of a process can be written to although it is not open. */
function mapsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/maps`, 'utf8')
  } catch {
    return ''
  }
}

function openFilesOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map(fd => `/proc/${pid}/fd/${fd}`)
  } catch {
    return []
  }
}

/** Signals a process only while it is still the one that was meant. */
export function signal(identity: Identity, name: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false
  try {
    process.kill(identity.pid, name)
    return true
  } catch {
    return false
  }
}
