import { existsSync, realpathSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Agent, Launch } from '../agents/index.ts'
import { changesNothing } from '../agents/presets.ts'
import { NotAllowed } from '../domain/errors.ts'
import type { Mission } from '../domain/mission.ts'
import type { Project, ToolPreset } from '../domain/project.ts'
import type { Session } from '../domain/session.ts'
import { requireWorktree, type Within } from '../git/index.ts'
import { OWN_FOLDER } from '../runner/folders.ts'
import { findSandbox, type Sandbox, type Walls, walled } from '../runner/sandbox.ts'
import { PROGRAM_FOLDER } from '../version.ts'
import type { Fleet } from './fleet.ts'
import { repositoryOf } from './repositories.ts'

/** The sandbox, where it has to hold an agent to a preset that its client cannot; null: the client does. */
export async function sandboxFor(
  { environment }: Fleet,
  { title, can }: Agent,
  preset: ToolPreset,
): Promise<Sandbox | null> {
  if (can.presets.includes(preset) || !can.sandboxed.includes(preset)) return null
  const found = await findSandbox(environment)
  if ('program' in found) return found
  throw new NotAllowed(
    `${title} cannot be held to the preset ${preset} by itself, and no sandbox can do it. ${found.problem}`,
    { try: `${found.advice} Or use the preset full, or an agent that can be held to it: fleet agents` },
  )
}

/** The same launch inside the walls. */
export const contained = (launch: Launch, sandbox: Sandbox, walls: Walls): Launch => ({
  ...launch,
  argv: walled(sandbox, walls, launch.argv),
  // A git that only looks would refresh its index on the way, and say that it cannot.
  env: { ...launch.env, GIT_OPTIONAL_LOCKS: '0' },
})

interface Inside {
  fleet: Fleet
  agent: Agent
  session: Session
  project: Project
  limits: { preset: ToolPreset }
  place: { workingDirectory: string }
  /** Of this launch. */
  directory: string
}

/** What an agent finds and may change inside: its own folders, and the worktree unless the preset only looks. */
export async function wallsOf({ fleet, agent, session, project, limits, place, directory }: Inside): Promise<Walls> {
  const home = fleet.environment.HOME
  const own = [
    join(directory, OWN_FOLDER),
    fleet.home.task(session.mission_id),
    ...(agent.folders ?? []).map(path => expanded(path, home)),
  ]
  const top = session.worktree ?? project.path
  const git = session.worktree ? await requireWorktree(session.worktree) : null
  // Heeded in some repositories only, and empty it says nothing; but what is not there cannot be kept as it is.
  if (git) writeFileSync(join(git.gitDir, CONFIGURATION), '', { flag: 'a' })
  const work = changesNothing(limits.preset) ? [] : [top, ...(git ? committing(git) : [])]
  return {
    workingDirectory: real(place.workingDirectory),
    // The program itself may lie in a folder that is hidden, and an agent calls `fleet`.
    readable: [directory, top, project.path, PROGRAM_FOLDER, ...(git ? [git.commonDir] : [])].map(real),
    writable: [...work, ...own].map(real),
    fixed: signposts(top, git).filter(existsSync).map(real),
    hidden: real(fleet.home.path),
    home: home && real(home),
    links: linksAmong([fleet.home.path, home, project.path]),
  }
}

/** For git of ours that looks into what such an agent left; undefined: it did not work inside walls. */
export const lookingWithin = (
  fleet: Fleet,
  session: Session,
  mission: Mission,
  project: Project,
): Promise<Within | undefined> => sharing(fleet, session, mission, project, { folder: session.worktree, writes: false })

/**
 * For a setup command, check or preview of such a mission, which run what the agent left: they may change the folder they
 * run in, and nothing else. What programs keep for next time is kept for as long as they run.
 */
export async function commandWithin(
  fleet: Fleet,
  session: Session,
  mission: Mission,
  project: Project,
  folder: string,
  workingDirectory = folder,
): Promise<Within | undefined> {
  const within = await sharing(fleet, session, mission, project, { folder, workingDirectory, writes: true })
  return within && (argv => within(['/usr/bin/env', 'XDG_CACHE_HOME=/tmp/cache', 'npm_config_cache=/tmp/npm', ...argv]))
}

async function sharing(
  fleet: Fleet,
  { agent: name, worktree, tool_preset }: Session,
  mission: Mission,
  project: Project,
  {
    folder,
    workingDirectory = folder,
    writes,
  }: { folder: string | null; workingDirectory?: string | null; writes: boolean },
): Promise<Within | undefined> {
  const agent = fleet.agents.ofSession(name)
  const free = mission.allowed_tools || !worktree || !tool_preset
  const sandbox = free ? null : await sandboxFor(fleet, agent, tool_preset)
  if (!sandbox) return undefined
  const { commonDir } = await repositoryOf(project)
  const home = fleet.environment.HOME
  const walls: Walls = {
    workingDirectory: real(workingDirectory!),
    readable: [folder!, project.path, commonDir].map(real),
    writable: writes ? [real(folder!)] : [],
    fixed: writes ? [join(folder!, '.git')].filter(existsSync).map(real) : [],
    hidden: real(fleet.home.path),
    home: home && real(home),
    links: linksAmong([fleet.home.path, home, project.path]),
  }
  return argv => walled(sandbox, walls, argv)
}

/** What committing on a branch writes. The configuration, the hooks and the person's own checkout are not among it. */
const committing = ({ gitDir, commonDir }: { gitDir: string; commonDir: string }): string[] => [
  gitDir,
  ...['objects', 'refs', 'logs', 'reftable'].map(name => join(commonDir, name)),
]

const CONFIGURATION = 'config.worktree'

/** Where git finds the repository and its configuration: through others, our own git would run what the agent likes. */
const signposts = (top: string, git: { gitDir: string } | null): string[] => [
  join(top, '.git'),
  ...(git ? ['commondir', 'gitdir', CONFIGURATION].map(name => join(git.gitDir, name)) : []),
]

const expanded = (path: string, home = '/'): string => (path.startsWith('~/') ? join(home, path.slice(2)) : path)

/** Also of what is not there yet: a link may be in the path to it. */
function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return dirname(path) === path ? path : join(real(dirname(path)), basename(path))
  }
}

const linksAmong = (paths: (string | undefined)[]): string[] =>
  paths.filter(path => path !== undefined).filter(path => real(path) !== path)
