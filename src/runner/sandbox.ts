import { execFile } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import { promisify } from 'node:util'
import { which } from '../agents/detect.ts'
import type { Partly } from '../git/index.ts'
import { LEADS_OUT, secretsIn } from './secrets.ts'

/** The operating system's sandbox, for agents whose client cannot enforce a preset. */
export interface Sandbox {
  /** Where bubblewrap is. */
  program: string
}

/** What a program inside may see and change. Paths are absolute; nothing outside `writable` is ever changed. */
export interface Walls {
  workingDirectory: string
  /** Visible inside, even if everything around is hidden. */
  readable: readonly string[]
  writable: readonly string[]
  /** Files in `writable` that are read-only. */
  fixed: readonly string[]
  /** Folders that are partly visible. */
  partly?: readonly Partly[]
  /** Hidden: the fleet's own secrets and other sessions. */
  hidden: string
  /** The person's home. Sign-ins in it are hidden. */
  home: string | undefined
  /** Paths that lead to these through links, as the program knows them. */
  links?: readonly string[]
}

const INSTALL = 'Install bubblewrap: apt install bubblewrap, dnf install bubblewrap, or pacman -S bubblewrap.'
const PROBE_MS = 10_000

/** Shared folders with sockets of other programs. They are private and empty inside. */
const SHARED = ['/tmp', '/var/tmp', '/run']
/** Host names are resolved through it. */
const RESOLVER = '/run/systemd/resolve'
/** For root these are settings of the whole machine, and bubblewrap leaves some of them writable. */
const KERNEL = ['sys', 'sysrq-trigger', 'irq', 'bus', 'fs'].map(name => join('/proc', name))

const BASE = [
  ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
  // Without a process namespace it could signal the person's programs. The network stays, because models are reached
  // through it.
  ...['--unshare-pid', '--unshare-ipc', '--cap-drop', 'ALL'],
]

type Environment = Readonly<Record<string, string | undefined>>
const working = new Map<string, Sandbox>()

/** The sandbox of this machine, or why there is none and what to do about it. */
export async function findSandbox(environment: Environment): Promise<Sandbox | { problem: string; advice: string }> {
  if (process.platform !== 'linux')
    return { problem: 'There is no bubblewrap on this system.', advice: 'Use Linux for it.' }
  const program = await which('bwrap', environment)
  if (!program) return { problem: 'bubblewrap is not installed.', advice: INSTALL }
  const known = working.get(program)
  if (known) return known
  try {
    const probe = [...BASE, ...kernelWalls(), ...['--tmpfs', '/tmp', '--', '/bin/sh', '-c', ':']]
    await promisify(execFile)(program, probe, { timeout: PROBE_MS, env: {} })
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim() || (error as Error).message
    const advice = 'Allow unprivileged user namespaces, or run where they are allowed; containers often forbid them.'
    return { problem: `bubblewrap does not work here: ${said}`, advice }
  }
  const found = { program }
  working.set(program, found)
  return found
}

export async function sandboxState(
  environment: Environment,
): Promise<{ works: boolean; problem?: string; advice?: string }> {
  const found = await findSandbox(environment)
  return 'program' in found ? { works: true } : { works: false, ...found }
}

/**
 * The same command inside the sandbox. Each argument is one word, and no shell reads it. Later mounts cover earlier
 * ones.
 */
export function walled({ program }: Sandbox, walls: Walls, argv: readonly string[]): [string, ...string[]] {
  const { workingDirectory, readable, writable, fixed, partly = [], hidden, home, links = [] } = walls
  const shared = SHARED.filter(path => existsSync(path))
  const isCovered = (path: string) => shared.some(cover => isInside(path, cover))
  const within = (path: string) => isInside(path, hidden)
  const outside = (path: string) => !within(path)
  return [
    program,
    ...BASE,
    ...kernelWalls(),
    ...shared.flatMap(path => ['--tmpfs', path]),
    ...['--ro-bind-try', RESOLVER, RESOLVER],
    ...[...(home ? [home] : []), ...readable.filter(outside)].filter(isCovered).flatMap(bind('--ro-bind')),
    ...writable.filter(outside).flatMap(bind('--bind-try')),
    ...(home ? coverSecrets(home, writable) : []),
    ...['--tmpfs', hidden],
    ...readable.filter(within).flatMap(bind('--ro-bind')),
    ...writable.filter(within).flatMap(bind('--bind-try')),
    ...partly.flatMap(showPartly),
    ...fixed.flatMap(bind('--ro-bind')),
    ...outermost(links.filter(isCovered)).flatMap(path => ['--symlink', realpathSync(path), path]),
    ...LEADS_OUT.flatMap(name => ['--unsetenv', name]),
    ...['--setenv', 'TMPDIR', '/tmp', '--chdir', workingDirectory, '--', ...argv],
  ]
}

/** The paths that are not below another. */
const outermost = (paths: readonly string[]): string[] =>
  paths.filter(path => !paths.some(other => other !== path && isInside(path, other)))

const showPartly = ({ folder, shown, empty, put }: Partly): string[] => [
  ...['--tmpfs', folder],
  ...empty.flatMap(path => ['--dir', path]),
  ...shown.flatMap(bind('--ro-bind')),
  ...put.flatMap(({ at, file }) => ['--ro-bind', file, at]),
  ...['--remount-ro', folder],
]

const bind = (how: string) => (path: string) => [how, path, path]
const isInside = (path: string, folder: string): boolean => path === folder || path.startsWith(folder + sep)
const kernelWalls = (): string[] => KERNEL.filter(path => existsSync(path)).flatMap(bind('--ro-bind'))

/** Hides secrets, except where the agent itself keeps its files. */
function coverSecrets(home: string, writable: readonly string[]): string[] {
  const { folders, files } = secretsIn(home, writable)
  return [...folders.flatMap(path => ['--tmpfs', path]), ...files.flatMap(path => ['--ro-bind', '/dev/null', path])]
}
