import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { which } from '../../agents/detect.ts'
import type { Agent, Launch } from '../../agents/index.ts'
import { changesNothing } from '../../agents/presets.ts'
import { NotAllowed, NotFound } from '../../domain/errors.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Project, ToolPreset } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
import { isLinked, type Place, placeAt, repositoryInWalls, seal, settingsOf, type Within } from '../../git/index.ts'
import { OWN_FOLDER } from '../../platform/launch-folder.ts'
import { PROGRAM_FOLDER } from '../../platform/version.ts'
import { findSandbox, type Sandbox, type Walls, walled } from '../../runner/sandbox.ts'
import type { Fleet } from '../fleet.ts'
import { repositoryOf } from '../projects/repositories.ts'

/** The sandbox that holds an agent to a preset, if its client cannot do that itself. Null: no sandbox is used. */
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
  // Even a git command that only reads would refresh the index, and complain that it cannot.
  env: { ...launch.env, GIT_OPTIONAL_LOCKS: '0' },
})

interface Inside {
  fleet: Fleet
  agent: Agent
  session: Session
  project: Project
  limits: { preset: ToolPreset }
  place: { workingDirectory: string }
  /** The folder of this launch. */
  directory: string
  /** The program that is run: the client of the agent. */
  program: string
}

/**
 * What an agent sees and may write inside the walls: its own folders, and the worktree unless the preset only reads.
 */
export async function wallsOf({
  fleet,
  agent,
  session,
  project,
  limits,
  place: { workingDirectory },
  directory,
  program,
}: Inside): Promise<Walls> {
  const home = fleet.environment.HOME
  const own = [
    join(directory, OWN_FOLDER),
    fleet.home.task(session.mission_id),
    ...(agent.folders ?? []).map(path => expanded(path, home)),
  ]
  const top = session.worktree ?? project.path
  const place = session.worktree ? placeAt(session.worktree) : undefined
  if (place && !(await isLinked(place))) throw new NotFound('worktree', top)
  // Nothing inside the walls may sign in.
  if (place) await seal(place, { walled: true, files: false })
  const work = changesNothing(limits.preset) ? [] : [top, ...(place ? [place.git] : [])]
  return {
    workingDirectory: real(workingDirectory),
    // The client and this program may be in a hidden folder, and an agent calls `fleet`.
    readable: [
      ...(await foldersOf(program, fleet)),
      ...[directory, top, project.path, PROGRAM_FOLDER],
      ...(place ? [place.git] : []),
    ].map(real),
    writable: [...work, ...own].map(real),
    fixed: place ? fixedIn(place).filter(existsSync).map(real) : [],
    ...(place ? (await gitWalls(project))(place.worktree) : {}),
    hidden: real(fleet.home.path),
    home: home && real(home),
    links: linksAmong([fleet.home.path, home, project.path]),
  }
}

/**
 * The folder where a program is found, and the folder of its own files. If others use that folder too, such as /tmp or
 * the person's home, only the file is shown.
 */
async function foldersOf(program: string, { environment, home }: Fleet): Promise<string[]> {
  const path = isAbsolute(program) ? program : await which(program, environment)
  if (!path || !existsSync(path)) return []
  const used = ['/tmp', '/var/tmp', '/run', home.path, environment.HOME ?? '/'].map(real)
  return [path, realpathSync(path)].map(each => {
    const folder = /^.*?\/node_modules(?=\/)/.exec(each)?.[0] ?? dirname(each)
    return used.some(one => `${one}/`.startsWith(`${folder}/`) || folder === '/') ? each : folder
  })
}

/** The walls for programs that our git runs on what a session left, such as filters. Undefined: it had no walls. */
export const gitWithin = (
  fleet: Fleet,
  session: Session,
  mission: Mission,
  project: Project,
  folder = session.worktree,
): Promise<Within | undefined> =>
  // If the sandbox is gone, only programs that would have to run inside it are refused.
  sharing(fleet, session, mission, project, { folder }).catch(refusal => () => {
    throw refusal
  })

/**
 * The walls for a setup command, check or preview, which run what the agent left. They may change only the folder they
 * run in, and their caches are dropped when they end.
 */
export async function commandWithin(
  fleet: Fleet,
  session: Session,
  mission: Mission,
  project: Project,
  folder: string,
  workingDirectory = folder,
): Promise<Within | undefined> {
  const within = await sharing(fleet, session, mission, project, { folder, workingDirectory })
  return within && (argv => within(['/usr/bin/env', 'XDG_CACHE_HOME=/tmp/cache', 'npm_config_cache=/tmp/npm', ...argv]))
}

/** The sandbox that a session worked in, and that its work is run in. Null: it had none. */
export async function sandboxOf(
  fleet: Fleet,
  { agent, worktree, tool_preset }: Session,
  mission: Mission,
): Promise<Sandbox | null> {
  const free = mission.allowed_tools || !worktree || !tool_preset
  return free ? null : sandboxFor(fleet, fleet.agents.ofSession(agent), tool_preset)
}

async function sharing(
  fleet: Fleet,
  session: Session,
  mission: Mission,
  project: Project,
  { folder, workingDirectory = folder }: { folder: string | null; workingDirectory?: string | null },
): Promise<Within | undefined> {
  const sandbox = await sandboxOf(fleet, session, mission)
  if (!sandbox) return undefined
  const home = fleet.environment.HOME
  const ofGit = await gitWalls(project)
  // Read when it is used, because the place may not be made yet.
  const walls = (): Walls => {
    const place = placeAt(folder!)
    return {
      workingDirectory: real(workingDirectory!),
      readable: [folder!, project.path, ...(place ? [place.ours, place.git] : [])].map(real),
      writable: [folder!, ...(place ? [place.git] : [])].map(real),
      fixed: place ? fixedIn(place).filter(existsSync).map(real) : [],
      ...ofGit(folder!),
      hidden: real(fleet.home.path),
      home: home && real(home),
      links: linksAmong([fleet.home.path, home, project.path]),
    }
  }
  return argv => walled(sandbox, walls(), argv)
}

/** What git needs of the person's repository in a worktree, without anything that signs in. */
async function gitWalls(project: Project): Promise<(worktree: string) => Pick<Walls, 'partly'>> {
  const repository = await repositoryOf(project)
  const settings = await settingsOf(repository)
  return worktree => ({ partly: [repositoryInWalls(repository, settings, worktree)] })
}

/**
 * Files that say where the repository is and what git runs. They cannot be changed inside, because a person's git would
 * read them before they are sealed again.
 */
const fixedIn = ({ worktree, git }: Place): string[] => [
  join(worktree, '.git'),
  ...['commondir', 'config', 'hooks', 'info', 'objects/info'].map(name => join(git, name)),
]

const expanded = (path: string, home = '/'): string => (path.startsWith('~/') ? join(home, path.slice(2)) : path)

/** Works for a path that does not exist yet too, because there may be a link in it. */
function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return dirname(path) === path ? path : join(real(dirname(path)), basename(path))
  }
}

const linksAmong = (paths: (string | undefined)[]): string[] =>
  paths.filter(path => path !== undefined).filter(path => real(path) !== path)
