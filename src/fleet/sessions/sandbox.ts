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
  /** What is run: the client of the agent. */
  program: string
}

/** What an agent finds and may change inside: its own folders, and the worktree unless the preset only looks. */
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
  // Inside walls nothing signs in.
  if (place) await seal(place, { walled: true, files: false })
  const work = changesNothing(limits.preset) ? [] : [top, ...(place ? [place.git] : [])]
  return {
    workingDirectory: real(workingDirectory),
    // The client and the program itself may lie in a folder that is hidden, and an agent calls `fleet`.
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
 * The folder in which a program is found, and the one in which its own files lie. A folder that everybody or the person
 * uses is not shown: then it is the file alone.
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

/**
 * For programs that git of ours runs over what such an agent left, such as filters; undefined: it did not work inside
 * walls.
 */
export const gitWithin = (
  fleet: Fleet,
  session: Session,
  mission: Mission,
  project: Project,
  folder = session.worktree,
): Promise<Within | undefined> =>
  // Where the sandbox is gone, only what would have to run inside is refused.
  sharing(fleet, session, mission, project, { folder }).catch(refusal => () => {
    throw refusal
  })

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
  const within = await sharing(fleet, session, mission, project, { folder, workingDirectory })
  return within && (argv => within(['/usr/bin/env', 'XDG_CACHE_HOME=/tmp/cache', 'npm_config_cache=/tmp/npm', ...argv]))
}

/** The sandbox that such a session worked in, and that what it left is run in; null: there was none around it. */
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
  // Looked at when it is used: the place may still be in the making.
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

/** Of the person's git there is what it needs in a worktree, and nothing that signs in. */
async function gitWalls(project: Project): Promise<(worktree: string) => Pick<Walls, 'partly'>> {
  const repository = await repositoryOf(project)
  const settings = await settingsOf(repository)
  return worktree => ({ partly: [repositoryInWalls(repository, settings, worktree)] })
}

/** What says where the repository is and what git runs: a person's git would heed it too, before it is written anew. */
const fixedIn = ({ worktree, git }: Place): string[] => [
  join(worktree, '.git'),
  ...['commondir', 'config', 'hooks', 'info', 'objects/info'].map(name => join(git, name)),
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
