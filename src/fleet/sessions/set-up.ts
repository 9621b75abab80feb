import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Unfit } from '../../domain/errors.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
import { effective } from '../../domain/rules/effective.ts'
import {
  branchTip,
  cachesOf,
  dropCaches,
  filesIn,
  isAncestor,
  isWorkedIn,
  keepCaches,
  noteWorkedIn,
  type Place,
  placeAt,
  tipOf,
} from '../../git/index.ts'
import { runCommand } from '../../runner/commands.ts'
import { defaultsOf } from '../dispatch/capacity.ts'
import type { Fleet } from '../fleet.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { poolOf } from '../worktrees/pool.ts'
import { commandEnvironment } from './environment.ts'
import { commandWithin } from './sandbox.ts'

const SETUP_TIMEOUT_SECONDS = 1800
const ERROR_CHARS = 3000

/** The mission's time was up before its agent began. */
export class OutOfTime extends Unfit {}

export interface SetUp {
  session: Session
  mission: Mission
  /** Where the command's launch is kept. */
  directory: string
  mark: string
  signal: AbortSignal
}

/**
 * Runs the project's setup command in a worktree, or takes up the run that a crash left. It is skipped where the caches
 * that it made were kept and its inputs are the same. Returns whether it was.
 */
export async function setUp(fleet: Fleet, project: Project, order: SetUp): Promise<'skipped' | 'done'> {
  const { session, signal } = order
  if (!session.worktree) return 'done'
  const place = placeAt(session.worktree)
  if (!place || isWorkedIn(place)) {
    await run(fleet, project, order)
    return 'done'
  }
  const key = project.setup_command && project.warm.length ? await keyOf(fleet, place, project, session) : null
  if (key) poolOf(fleet).expects(project, key)
  const caches = cachesOf(place)
  const skipped = caches?.key === key && caches.complete
  if (!skipped) {
    await dropCaches(place)
    const before = key && repositoryStamp(place)
    await run(fleet, project, order)
    if (signal.aborted) return 'done'
    if (key && (await isOnBase(place, project, session))) {
      const isCopied =
        JSON.stringify(stampsOf(project.path, project)) === JSON.stringify(stampsOf(place.worktree, project))
      const changedMore = !isCopied || before !== repositoryStamp(place)
      await keepCaches(place, { key, paths: project.warm, besides: project.copy_files, changedMore })
    }
  }
  // From here on an agent may change them.
  noteWorkedIn(place)
  return skipped ? 'skipped' : 'done'
}

/** Lock files of package managers: they decide what is installed. */
const LOCK_FILES = [
  ...['package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'bun.lock', 'bun.lockb'],
  ...['requirements.txt', 'poetry.lock', 'Pipfile.lock', 'uv.lock', 'pdm.lock'],
  ...['Cargo.lock', 'go.sum', 'Gemfile.lock', 'composer.lock', 'mix.lock', 'Package.resolved', 'gradle.lockfile'],
].map(name => `:(glob)**/${name}`)

/** A digest of everything that decides what the setup command makes. Null: none of its inputs is there. */
async function keyOf(fleet: Fleet, place: Place, project: Project, session: Session): Promise<string | null> {
  const declared = project.setup_inputs
  const inputs = await filesIn(place, declared.length ? declared.map(path => `:(top,literal)${path}`) : LOCK_FILES)
  // Without any input nothing would ever say that the caches are outdated.
  if (!inputs.length) return null
  const environment = ['PATH', ...project.environment].map(name => [name, fleet.environment[name] ?? null])
  const copies = stampsOf(project.path, project)
  const all = [project.setup_command, project.warm, environment, session.tool_preset, inputs, copies]
  return createHash('sha256').update(JSON.stringify(all)).digest('hex')
}

/** The copied files below a folder, each with a digest of its content; of a very large one its size tells. */
const stampsOf = (folder: string, { copy_files }: Project): string[] =>
  copy_files.flatMap(path => {
    const found = statSync(join(folder, path), { throwIfNoEntry: false })
    if (!found?.isDirectory()) return [`${path} ${stampOf(join(folder, path))}`]
    const names = readdirSync(join(folder, path), { recursive: true, encoding: 'utf8' }).sort()
    return names.map(name => `${path}/${name} ${stampOf(join(folder, path, name))}`)
  })

function stampOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found?.isFile()) return found ? 'no file' : 'absent'
  const content = found.size <= MOST_READ_BYTES ? readFileSync(path) : String(found.size)
  return createHash('sha256').update(content).digest('base64')
}
const MOST_READ_BYTES = 8 * 1024 * 1024

/** Hooks and settings of the session's repository, which a setup command may write and which are never kept. */
const repositoryStamp = ({ git }: Place): string =>
  ['config', 'hooks', 'info']
    .flatMap(name => [name, ...(name === 'config' ? [] : readdirSync(join(git, name)).map(each => `${name}/${each}`))])
    .map(name => {
      const found = statSync(join(git, name), { throwIfNoEntry: false })
      return `${name} ${found?.size} ${found?.mtimeMs}`
    })
    .join('\n')

/** What is not on the base branch has been reviewed by nobody, and its scripts may have run in the setup command. */
async function isOnBase(place: Place, project: Project, { reason }: Session): Promise<boolean> {
  const repository = await repositoryOf(project)
  const base = await branchTip(repository, project.base_branch)
  // In a conflict round the files of both sides are there.
  if (!base || reason === 'conflict') return false
  return base === tipOf(place) || isAncestor(repository, tipOf(place), base)
}

async function run(
  fleet: Fleet,
  project: Project,
  { session, mission, directory, mark, signal }: SetUp,
): Promise<void> {
  if (!project.setup_command) return
  const { timeoutSeconds } = effective(mission, project, defaultsOf(fleet))
  const { code, stopped, output } = await runCommand({
    directory,
    kind: 'setup',
    line: project.setup_command,
    cwd: session.worktree!,
    env: commandEnvironment(fleet, project),
    mark,
    timeoutSeconds: Math.min(SETUP_TIMEOUT_SECONDS, timeoutSeconds),
    signal,
    within: await commandWithin(fleet, session, mission, project, session.worktree!),
  })
  if (code === 0 || signal.aborted) return
  if (stopped === 'time' && timeoutSeconds <= SETUP_TIMEOUT_SECONDS)
    throw new OutOfTime(
      `It reached its time limit of ${timeoutSeconds} seconds in its setup command:\n${output.slice(-ERROR_CHARS)}`,
    )
  const how = stopped === 'size' ? 'it printed too much' : stopped ? 'it took too long' : `exit code ${code}`
  throw new Unfit(`The setup command failed (${how}):\n${output.slice(-ERROR_CHARS)}`)
}
